import Foundation
import TestSupport
import Testing

/// How an entry is made to end in an error code.
struct EntryFault: Sendable, CustomTestStringConvertible {
  let code: String
  let stage: String
  /// What the message holds.
  let message: String
  let isRetryable: Bool
  let options: [String]
  /// The largest file that the program may write, in KiB; nil for any.
  let fileLimit: Int?
  /// More fields of the entry, as JSON without braces.
  let fields: String
  /// Makes what is needed; returns the entry's URL, and a server that is to run meanwhile.
  let prepare: @Sendable (DarkroomFolders) throws -> (url: String, server: (any Sendable)?)

  var testDescription: String { code }

  init(
    _ code: String, _ stage: String, saying message: String, isRetryable: Bool = false, options: [String] = [],
    fileLimit: Int? = nil, fields: String = "",
    prepare: @escaping @Sendable (DarkroomFolders) throws -> (url: String, server: (any Sendable)?)
  ) {
    (self.code, self.stage, self.message, self.isRetryable) = (code, stage, message, isRetryable)
    (self.options, self.fileLimit, self.fields, self.prepare) = (options, fileLimit, fields, prepare)
  }

  /// A URL that is enough by itself.
  init(
    _ code: String, _ stage: String = "download", url: String, saying message: String, isRetryable: Bool = false
  ) {
    self.init(code, stage, saying: message, isRetryable: isRetryable) { _ in (url, nil) }
  }

  /// A file that is served.
  init(
    _ code: String, _ stage: String, serving contents: @escaping @Sendable () throws -> Data, saying message: String,
    options: [String] = [], fileLimit: Int? = nil, fields: String = ""
  ) {
    self.init(code, stage, saying: message, options: options, fileLimit: fileLimit, fields: fields) { folders in
      let server = try Nginx(serving: folders.folder.path)
      try contents().write(to: URL(fileURLWithPath: folders.folder.file("served")))
      return (server.url("served"), server)
    }
  }

  /// A server that misbehaves as `path` says.
  init(_ code: String, faultAt path: String, saying message: String, isRetryable: Bool, options: [String] = []) {
    self.init(code, "download", saying: message, isRetryable: isRetryable, options: options) { _ in
      let server = try PythonServer(PythonServer.prelude + Self.faults)
      return (server.url(path), server)
    }
  }

  private static let faults = """
    def answer(connection, path):
        if path == "/loop":
            connection.sendall(b"HTTP/1.1 302 Found\\r\\nLocation: /loop\\r\\nConnection: close\\r\\nContent-Length: 0\\r\\n\\r\\n")
        elif path == "/short":
            connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 100\\r\\n\\r\\nhello")
        elif path == "/garbage":
            connection.sendall(b"\\x00\\x01\\x02\\x03" * 1000)
        elif path == "/stall":
            stall(connection)

    serve()
    """

  /// A server with TLS whose certificate nobody has signed but itself.
  static func selfSigned(_ folders: DarkroomFolders) throws -> (url: String, server: (any Sendable)?) {
    let made = try DarkroomProcess.run(
      script: """
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=127.0.0.1 \
          -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out certificate.pem
        """, in: folders.folder)
    #expect(made.status == 0, "\(made.error)")
    let port = try ReservedPort()
    let server = try Nginx(
      serving: packageRoot + "/Samples",
      directives: """
        listen 127.0.0.1:\(port.number) ssl;
        ssl_certificate \(folders.folder.file("certificate.pem"));
        ssl_certificate_key \(folders.folder.file("key.pem"));
        """, on: port)
    return ("https://127.0.0.1:\(port.number)/coffee.jpg", server)
  }

  static func sample(_ name: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: packageRoot + "/Samples/" + name))
  }
}

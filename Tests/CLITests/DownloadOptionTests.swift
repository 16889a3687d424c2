import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct DownloadOptionTests {
  /// Says what it was asked and by whom; `/moved` redirects, `/stall` never answers.
  private static let server =
    PythonServer.prelude + """
      def handle(connection):
          header = connection.recv(65536).decode().split("\\r\\n")
          agent = [line for line in header if line.startswith("User-Agent: ")]
          say(header[0].split()[1] + " " + agent[0][12:])
          if "/stall" in header[0]:
              stall(connection)
          status = "302 Found\\r\\nLocation: /there" if "/moved" in header[0] else "200 OK"
          connection.sendall(("HTTP/1.1 %s\\r\\nConnection: close\\r\\n\\r\\nhello" % status).encode())
          connection.close()

      serve()
      """

  private func code(
    _ url: String, _ options: [String] = [], environment: [String: String] = [:]
  ) throws -> String? {
    let folders = try DarkroomFolders()
    try folders.drop("a.txt", url + "\n")
    try DarkroomProcess.run(["run"] + folders.options + options, environment: environment).expect(status: 1)
    return try folders.report("a").entries.first?.error?.code
  }

  @Test func `--user-agent is what servers read`() throws {
    let server = try PythonServer(Self.server)
    #expect(try code(server.url("a"), ["--user-agent", "album/1 (me@example.org)"]) == "not-an-image")
    #expect(try server.nextLine() == "/a album/1 (me@example.org)")
  }

  @Test(arguments: [("0", "too-many-redirects"), ("1", "not-an-image")])
  func `--max-redirects is how many are followed`(limit: String, expected: String) throws {
    let server = try PythonServer(Self.server)
    #expect(try code(server.url("moved"), ["--max-redirects", limit]) == expected)
  }

  @Test(arguments: [
    ("http", ["--timeout", "0.3"]), ("http", ["--first-byte-timeout", "0.3", "--low-speed", "0"]),
    ("https", ["--connect-timeout", "0.3"]),
  ])
  func `the timeouts end what takes too long, sends nothing, or has no handshake that comes about`(
    scheme: String, options: [String]
  ) throws {
    let script = scheme == "http" ? "header = connection" : "return stall(connection) #"
    let server = try PythonServer(Self.server.replacing("header = connection", with: script))
    #expect(try code(server.url("stall", scheme: scheme), options) == "timeout")
  }

  @Test(
    arguments: [
      (["--proxy", "PROXY"], [:]), ([], ["http_proxy": "PROXY"]), ([], ["ALL_PROXY": "PROXY"]),
      ([], ["DARKROOM_PROXY": "PROXY"]), (["--proxy", "PROXY"], ["http_proxy": "127.0.0.1:1"]),
    ] as [([String], [String: String])])
  func `a proxy is named by the option or the environment`(options: [String], environment: [String: String]) throws {
    let server = try PythonServer(Self.server)
    let proxy = "http://127.0.0.1:\(server.port)"
    let code = try code(
      "http://name.invalid/a", options.map { $0 == "PROXY" ? proxy : $0 },
      environment: environment.mapValues { $0 == "PROXY" ? proxy : $0 })
    #expect(code == "not-an-image")
    #expect(try server.nextLine().hasPrefix("http://name.invalid/a darkroom/"))
  }

  @Test(arguments: [(["--proxy", "ftp://u:secret@h"], [:]), ([], ["https_proxy": "ftp://u:secret@h"])])
  func `what is no proxy is a usage error that keeps the secret`(options: [String], environment: [String: String])
    throws
  {
    let run = try DarkroomCommand.run(["run"] + options, in: TemporaryFolder(), environment: environment)
    #expect(run.status == 64)
    #expect(run.error.contains("must be a proxy's URL"))
    #expect(!run.error.contains("secret"))
  }
}

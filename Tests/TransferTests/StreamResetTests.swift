import Foundation
import TestSupport
import Testing

@testable import Transfer

@Suite(.blocking) struct StreamResetTests {
  /// Speaks HTTP/2 just well enough. Its streams, in the order in which they come: the first is answered; the second gets half
  /// of its body until the third, which is reset, has come; the fourth gets half and is reset; the fifth is answered.
  private static let script =
    PythonServer.prelude + """
      import ssl

      context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
      context.load_cert_chain(*sys.argv[1:3])
      context.set_alpn_protocols(["h2"])
      BODY = b"0123456789" * 100
      DATA, HEADERS, RESET, SETTINGS = 0, 1, 3, 4
      END, ACKNOWLEDGED, END_HEADERS = 1, 1, 4
      INTERNAL_ERROR = struct.pack(">I", 2)
      HEAD = b"\\x88" + b"\\x0f\\x0d\\x04" + b"%d" % len(BODY)  # :status 200, content-length

      def frame(kind, flags, stream, payload=b""):
          return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload

      def begin(stream):
          return frame(HEADERS, END_HEADERS, stream, HEAD) + frame(DATA, 0, stream, BODY[:500])

      def rest(stream):
          return frame(DATA, END, stream, BODY[500:])

      def handle(connection):
          connection = context.wrap_socket(connection, server_side=True)
          incoming = connection.makefile("rb")
          incoming.read(24)
          connection.sendall(frame(SETTINGS, 0, 0))
          streams = []
          while head := incoming.read(9):
              length, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
              incoming.read(length)
              if kind == SETTINGS and not flags & ACKNOWLEDGED:
                  connection.sendall(frame(SETTINGS, ACKNOWLEDGED, 0))
              if kind != HEADERS:
                  continue
              streams.append(int.from_bytes(head[5:9], "big"))
              stream, number = streams[-1], len(streams)
              if number in (1, 5):
                  connection.sendall(begin(stream) + rest(stream))
              elif number == 2:
                  connection.sendall(begin(stream))
              elif number == 3:
                  connection.sendall(frame(RESET, 0, stream, INTERNAL_ERROR) + rest(streams[1]))
              elif number == 4:
                  connection.sendall(begin(stream) + frame(RESET, 0, stream, INTERNAL_ERROR))

      serve()
      """

  @Test func `a stream that is reset fails its transfer alone, and its connection goes on`() async throws {
    let certificates = try Certificates.shared
    let server = try PythonServer(Self.script, certificates.files(.none))
    let downloads = try Downloads { $0.certificateFile = certificates.authority }
    let url = server.url("a", scheme: "https")
    let body = Data(String(repeating: "0123456789", count: 100).utf8)

    let groups = try await downloads.fetch(url, inGroupsOf: [1, 2, 1, 1])
    let (first, both, broken, last) = (groups[0][0], groups[1], groups[2][0], groups[3][0])
    #expect(try first.result.get().answer?.isHTTP2 == true)
    #expect(first.body == body)

    #expect(both.count { (try? $0.result.get()) != nil && $0.body == body } == 1)
    for case .failure(let error) in both.map(\.result) { #expect(error.code == .network && error.isRetryable) }

    let error = #expect(throws: TransferError.self) { try broken.result.get() }
    #expect(error?.isRetryable == true && broken.body.count < body.count, "\(error?.message ?? "")")

    #expect(try last.result.get().requests.reused == 1)
    #expect(last.body == body)
  }
}

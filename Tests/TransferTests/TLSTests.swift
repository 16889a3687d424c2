import Foundation
import TestSupport
import Testing

@testable import Transfer

@Suite(.blocking) struct TLSTests {
  @Test(
    "only a certificate that is valid for the host, today, by a trusted authority is accepted",
    arguments: Certificates.Flaw.allCases)
  func verification(flaw: Certificates.Flaw) async throws {
    let certificates = try Certificates.shared
    let server = try server(certificates, flaw)
    let trusting = try Downloads { $0.certificateFile = certificates.authority }
    let (result, body) = try await trusting.fetch(server.url)
    switch result {
    case .success:
      #expect(flaw == .none)
      #expect(body == Data("hello".utf8))
    case .failure(let error):
      #expect(flaw != .none, "\(error.message)")
      #expect(error.code == .tls)
      #expect(!error.isRetryable)
    }
    let (error, rest) = try await Downloads().failure(server.url)
    #expect(error?.code == .tls)
    #expect(rest.isEmpty)
    #expect(try server.nginx.accessLog().filter { $0.contains("GET") }.count == (flaw == .none ? 1 : 0))
  }

  @Test("HTTP/2 is spoken where it is offered, and connections are used again")
  func http2() async throws {
    let certificates = try Certificates.shared
    let server = try server(certificates, .none)
    let downloads = try Downloads { $0.certificateFile = certificates.authority }
    let groups = try await downloads.fetch(server.url, inGroupsOf: [1, 50])
    let reused = try groups.map { try $0.map { try $0.result.get().requests.reused } }
    #expect(reused == [[0], Array(repeating: 1, count: 50)])
    let requests = try server.nginx.accessLog().filter { $0.contains("GET") }
    #expect(requests.count == 51)
    #expect(requests.allSatisfy { $0.contains("HTTP/2.0\" 200") })
  }

  @Test(
    "the environment names whom to trust, as with curl",
    arguments: [
      (["CURL_CA_BUNDLE": "a", "SSL_CERT_FILE": "b", "SSL_CERT_DIR": "c"], "a", nil),
      (["CURL_CA_BUNDLE": "", "SSL_CERT_FILE": "b", "SSL_CERT_DIR": "c"], "b", "c"), (["SSL_CERT_DIR": "c"], nil, "c"),
      (["SSL_CERT_FILE": ""], nil, nil), ([:], nil, nil),
    ] as [([String: String], String?, String?)])
  func environment(variables: [String: String], file: String?, folder: String?) throws {
    var configuration = TransferConfiguration()
    try configuration.adopt(environment: variables)
    #expect(configuration.certificateFile == file)
    #expect(configuration.certificateFolder == folder)
  }

  @Test("a list of authorities that cannot be read is a tls error, not a reason to trust")
  func unreadable() async throws {
    let server = try server(.shared, .none)
    let (error, _) = try await Downloads { $0.certificateFile = "/nowhere.pem" }.failure(server.url)
    #expect(error?.code == .tls)
  }

  private struct Server {
    let nginx: Nginx
    let url: String
    let folder: TemporaryFolder
  }

  private func server(_ certificates: Certificates, _ flaw: Certificates.Flaw) throws -> Server {
    let folder = try TemporaryFolder()
    try "hello".write(toFile: folder.file("a"), atomically: false, encoding: .utf8)
    let port = try ReservedPort()
    let nginx = try Nginx(serving: folder.path, directives: certificates.directives(flaw, port: port.number), on: port)
    return Server(nginx: nginx, url: "https://127.0.0.1:\(port.number)/a", folder: folder)
  }
}

import Foundation
import TestSupport
import Testing

@Suite(.blocking, .enabled(if: PrivateNetwork.isAvailable, "unshare is not allowed here"))
struct AddressPolicyTests {
  private static let hosts = [
    "127.1", "0x7f000001", "0177.0.0.1", "2130706433", "0.0.0.0", "0", "[::1]", "[::ffff:127.0.0.1]", "[::127.0.0.1]",
    "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "169.254.169.254", "10.0.0.1", "100.64.0.1", "198.18.0.1", "localhost",
    "inward.test",
  ]

  /// - Parameter path: Each host's own when nil: several spellings are one request.
  private func url(_ host: String, _ path: String? = nil) -> String {
    "http://\(host):8000/\(path ?? "\(Self.hosts.firstIndex(of: host) ?? 0)")"
  }

  @Test func `forbidden addresses, however they are spelt or resolved, are refused without a connection`() throws {
    let run = try PrivateNetwork.run(Self.hosts.map { url($0) }, allowing: [])
    for host in Self.hosts { #expect(run.codes[url(host)] == "address-not-allowed", "\(host)") }
    #expect(run.reached == [])
  }

  @Test func `the same addresses are reached when they are allowed`() throws {
    let networks = [
      "127.0.0.0/8", "0.0.0.0/8", "::1", "169.254.0.0/16", "10.0.0.0/8", "100.64.0.0/10", "198.18.0.0/15",
    ]
    let run = try PrivateNetwork.run(Self.hosts.map { url($0) }, allowing: networks)
    for host in Self.hosts { #expect(run.codes[url(host)] == "not-an-image", "\(host)") }
    #expect(run.reached.count == Self.hosts.count)
  }

  @Test func `a name whose second answer is forbidden is asked at the address that was allowed, and nowhere else`()
    throws
  {
    let rebound = url("rebound.test", "rebind")
    let run = try PrivateNetwork.run([rebound], allowing: ["127.0.0.2"])
    #expect(run.codes == [rebound: "not-an-image"])
    #expect(run.reached == ["::ffff:127.0.0.2", "::ffff:127.0.0.2"])
  }
}

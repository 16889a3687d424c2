import Foundation
import System
import TestSupport
import Testing

@testable import Transfer

@Suite(.blocking) struct AddressTests {
  @Test(
    "special addresses are refused, embedded ones too",
    arguments: [
      "127.0.0.1", "127.255.255.255", "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255",
      "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.168.1.1", "198.18.0.1",
      "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
      "::", "::1", "::2", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0:127.0.0.1",
      "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::808:808", "2002:7f00:1::", "2002:a00:1::1",
      "2001:0:7f00:1::", "2001:0:808:808::80ff:fffe", "2001:db8::1", "fc00::1", "fd12::1", "fe80::1", "febf::1",
      "fec0::1", "ff02::1", "100::1",
    ])
  func refused(text: String) throws {
    let address = try #require(IPAddress(text))
    guard case .refused(let reason) = AddressPolicy().verdict(for: address) else {
      Issue.record("\(text) is allowed")
      return
    }
    #expect(reason.hasPrefix("\(address) "))
    #expect(reason.contains("--allow-net "))
  }

  @Test(
    "public addresses are allowed",
    arguments: [
      "8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0", "198.17.255.255",
      "198.20.0.0", "223.255.255.255", "2606:4700::1111", "64:ff9b::808:808", "2002:808:808::1", "::ffff:8.8.8.8",
      "2001:0:808:808::f7f7:f7f7",
    ])
  func allowed(text: String) throws {
    #expect(AddressPolicy().verdict(for: try #require(IPAddress(text))) == .allowed)
  }

  @Test(
    "a network that is allowed opens its addresses and what embeds them, and nothing else",
    arguments: [
      ("127.0.0.0/8", "127.0.0.1", true), ("127.0.0.0/8", "::ffff:127.0.0.1", true), ("127.0.0.1", "127.0.0.1", true),
      ("127.0.0.1", "127.0.0.2", false), ("127.0.0.0/8", "64:ff9b::7f00:1", true), ("127.0.0.0/8", "::1", false),
      ("10.0.0.0/8", "2002:a00:1::1", true), ("10.0.0.0/8", "192.168.0.1", false), ("::1/128", "::1", true),
      ("0.0.0.0/0", "10.0.0.1", true), ("::/0", "fe80::1", true), ("::/0", "127.0.0.1", false),
      ("10.9.8.7/8", "10.1.1.1", true), ("127.0.0.0/8", "2001:0:a00:1::80ff:fffe", false),
    ])
  func allowing(network: String, text: String, isAllowed: Bool) throws {
    let policy = AddressPolicy(allowing: [try Network(parsing: network)])
    #expect((policy.verdict(for: try #require(IPAddress(text))) == .allowed) == isAllowed)
  }

  @Test func `a host is refused when all its addresses are, with one option that would allow them`() throws {
    let addresses = [IPAddress.v6(1), .v4(0x7f00_0001)]
    #expect(
      AddressPolicy().refusal(of: addresses) == "::1 is a loopback address, and 127.0.0.1 is a loopback address; "
        + "--allow-net ::1/128,127.0.0.0/8 would allow them")
    let policy = AddressPolicy(allowing: [try Network(parsing: "127.0.0.0/8")])
    #expect(policy.refusal(of: addresses) == nil && policy.refusal(of: []) == nil)
  }

  @Test(
    "the option that would allow localhost has both of its networks, whichever this machine uses",
    arguments: ["http://localhost/a", "http://LOCALHOST./a", "http://a.localhost/"])
  func localhost(url: String) throws {
    let location = try SourceLocation(parsing: url)
    let message = TransferConfiguration().preflightFailure(of: location)?.message
    #expect(message?.contains("; --allow-net 127.0.0.0/8,::1/128 would allow them") == true, "\(message ?? "")")
    #expect(
      AddressPolicy().refusal(of: [.v6(1)], isLocal: true)
        == "::1 is a loopback address; --allow-net 127.0.0.0/8,::1/128 would allow it")
    let other = try SourceLocation(parsing: "http://notlocalhost.example/")
    #expect(!other.isLocalName && other.literalAddress == nil)
  }

  @Test("the reason names the address, what it is, and the option")
  func reason() throws {
    let policy = AddressPolicy()
    #expect(
      policy.verdict(for: try #require(IPAddress("127.0.0.1")))
        == .refused("127.0.0.1 is a loopback address; --allow-net 127.0.0.0/8 would allow it"))
    #expect(
      policy.verdict(for: try #require(IPAddress("2002:7f00:1::")))
        == .refused(
          "2002:7f00:1:: embeds 127.0.0.1, a loopback address; --allow-net 127.0.0.0/8 would allow it"))
  }

  @Test(
    "what is no network is refused",
    arguments: [
      "", "/", "127.0.0.0/33", "::/129", "1.2.3/8", "a/8", "1.2.3.4/", "1.2.3.4/+8", "1.2.3.4/8/8", "0177.0.0.1",
    ])
  func malformedNetwork(text: String) {
    #expect(throws: ParseError.self) { try Network(parsing: text) }
  }

  @Test(
    "however loopback is spelt, nothing reaches the server unless it is allowed",
    arguments: [
      ("127.0.0.1", "127.0.0.0/8"), ("127.1", "127.0.0.0/8"), ("0x7f000001", "127.0.0.0/8"),
      ("0177.0.0.1", "127.0.0.0/8"), ("2130706433", "127.0.0.0/8"), ("0.0.0.0", "0.0.0.0/8"), ("0", "0.0.0.0/8"),
      ("[::ffff:127.0.0.1]", "127.0.0.0/8"), ("localhost", "127.0.0.0/8"), ("LOCALHOST", "127.0.0.0/8"),
    ])
  func spellings(host: String, network: String) async throws {
    let folder = try TemporaryFolder()
    try Data("hello".utf8).write(to: URL(fileURLWithPath: folder.file("a")))
    let nginx = try Nginx(serving: folder.path)
    let url = "http://\(host):\(nginx.port)/a"
    let (error, body) = try await Downloads { $0.addressPolicy = AddressPolicy() }.failure(url)
    #expect(error?.code == .addressNotAllowed, "\(error?.message ?? "allowed")")
    #expect(error?.message.contains("--allow-net") == true)
    #expect(body.isEmpty)
    #expect(try nginx.accessLog().filter { $0.contains("GET") }.isEmpty)
    let policy = AddressPolicy(allowing: [try Network(parsing: network), Network("::1/128")])
    let (result, _) = try await Downloads { $0.addressPolicy = policy }.fetch(url)
    #expect(try result.get().bytes == 5)
  }

  @Test(
    "forbidden addresses in URLs are refused without a packet",
    arguments: [
      "[::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "169.254.169.254", "10.0.0.1", "100.64.0.1", "198.18.0.1",
      "[fe80::1%251]", "[ff02::1]",
    ])
  func literals(host: String) async throws {
    let (error, _) = try await Downloads { $0.addressPolicy = AddressPolicy() }.failure("http://\(host)/")
    #expect(error?.code == .addressNotAllowed, "\(error?.message ?? "allowed")")
    #expect(error?.isRetryable == false)
  }
}

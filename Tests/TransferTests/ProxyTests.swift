import Foundation
import System
import TestSupport
import Testing

@testable import Transfer

@Suite(.blocking) struct ProxyTests {
  @Test(
    "the environment names proxies as curl reads them",
    arguments: [
      (["http_proxy": "http://p:1"], "http://h/", "http://p:1"),
      (["http_proxy": "http://p:1"], "https://h/", nil),
      (["HTTP_PROXY": "http://p:1"], "http://h/", nil),
      (["HTTPS_PROXY": "p:1"], "https://h/", "p:1"),
      (["https_proxy": "p:1", "HTTPS_PROXY": "q:1"], "https://h/", "p:1"),
      (["all_proxy": "socks5h://p"], "http://h/", "socks5h://p"),
      (["ALL_PROXY": "p:1", "http_proxy": ""], "http://h/", "p:1"),
      (["all_proxy": "p:1", "no_proxy": "*"], "http://h/", nil),
      (["all_proxy": "p:1", "no_proxy": "g, .h "], "http://a.H./", nil),
      (["all_proxy": "p:1", "NO_PROXY": "h"], "http://h/", nil),
      (["all_proxy": "p:1", "no_proxy": "h"], "http://ah/", "p:1"),
      (["all_proxy": "p:1", "no_proxy": "h."], "http://a.h/", nil),
      (["all_proxy": "p:1", "no_proxy": "a.h"], "http://h/", "p:1"),
      (["all_proxy": "p:1", "no_proxy": "10.0.0.0/8"], "http://10.1/", nil),
      (["all_proxy": "p:1", "no_proxy": "10.0.0.0/8"], "http://11.0.0.1/", "p:1"),
      (["all_proxy": "p:1", "no_proxy": "[::1]"], "http://[::1]/", nil),
      (["all_proxy": "p:1", "no_proxy": "0.0.1"], "http://10.0.0.1/", "p:1"),
      ([:], "http://h/", nil),
    ] as [([String: String], String, String?)])
  func environment(variables: [String: String], url: String, proxy: String?) throws {
    let rules = try ProxyRules(environment: variables)
    let location = try SourceLocation(parsing: url)
    #expect(rules.proxy(forScheme: location.scheme.rawValue, host: location.host) == proxy)
  }

  @Test("--proxy goes before the environment, but not before no_proxy")
  func option() throws {
    var rules = try ProxyRules(environment: ["http_proxy": "p:1", "no_proxy": "g"])
    rules.override = try Proxy(parsing: "q:1")
    for (url, proxy) in [("http://h/", "q:1"), ("http://g/", nil)] {
      let location = try SourceLocation(parsing: url)
      #expect(rules.proxy(forScheme: location.scheme.rawValue, host: location.host) == proxy)
    }
  }

  @Test(
    "what is no proxy is refused without its secrets",
    arguments: [
      "ftp://u:secret@h", "http://", "h:99999", "a b", "http://u:a secret@h:1", "socks5://u:secret @h",
      "u:secret@ftp.example.com:1",
      "http://u:secret%0Ax@h", "socks5h://secret%1F@h",
    ])
  func malformed(text: String) {
    let error = #expect(throws: ParseError.self) { try Proxy(parsing: text) }
    #expect(error?.message.contains("http://proxy.example:3128") == true)
    #expect(error?.message.contains("secret") == false)
    let named = #expect(throws: ParseError.self) { try ProxyRules(environment: ["https_proxy": text]) }
    #expect(named?.message.hasPrefix("https_proxy must be ") == true)
  }

  /// Answers each request with what it was asked; `CONNECT` is answered with 200 and ends there; redirects `/to/HEX`.
  private static let proxy =
    PythonServer.prelude + """
      def answer(connection, target):
          say(target)
          if "/to/" in target:
              location = bytes.fromhex(target.split("/to/")[1])
              connection.sendall(b"HTTP/1.1 302 Found\\r\\nConnection: close\\r\\nLocation: " + location + b"\\r\\n\\r\\n")
          elif not target.endswith(":443"):
              connection.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\n" + target.encode())

      serve()
      """

  private func downloads(_ proxy: PythonServer, exceptions: String = "") throws -> Downloads {
    try Downloads {
      // The proxy is the only thing at this address that may be reached.
      $0.addressPolicy = AddressPolicy()
      $0.proxies = try ProxyRules(environment: ["all_proxy": "127.0.0.1:\(proxy.port)", "no_proxy": exceptions])
    }
  }

  @Test("requests go through the proxy, whatever its own address; names are left to it")
  func request() async throws {
    let proxy = try PythonServer(Self.proxy)
    let (result, body) = try await downloads(proxy).fetch("http://name.invalid/a")
    #expect(try result.get().finalURL == "http://name.invalid/a")
    #expect(String(decoding: body, as: UTF8.self) == "http://name.invalid/a")
    let (error, _) = try await downloads(proxy).failure("https://name.invalid/a")
    #expect(error?.isRetryable == true)
    #expect(try proxy.nextLine() == "http://name.invalid/a")
    #expect(try proxy.nextLine() == "name.invalid:443")
  }

  @Test(
    "addresses that a URL spells out are refused before the proxy hears of them, in redirects, too",
    arguments: [
      "127.0.0.1", "127.1", "0x7f000001", "0177.0.0.1", "2130706433", "0.0.0.0", "0", "[::1]", "[::ffff:127.0.0.1]",
      "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "169.254.169.254", "10.0.0.1", "100.64.0.1",
      "198.18.0.1", "127.0.0.1.", "%31%32%37.1", "①②⑦.0.0.1", "127。0。0。1", "localhost", "a.LOCALHOST.",
      "[fe80::1%251]", "user@127.0.0.1",
    ])
  func literals(host: String) async throws {
    let proxy = try PythonServer(Self.proxy)
    let downloads = try downloads(proxy)
    let (error, _) = try await downloads.failure("http://\(host)/a")
    #expect(error?.code == .addressNotAllowed, "\(error?.message ?? "allowed")")
    #expect(error?.message.contains("--allow-net") == true)
    let digits = Array("http://\(host)/b".utf8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    let (redirected, _) = try await downloads.failure("http://name.invalid/to/\(digits)")
    #expect(redirected?.code == .addressNotAllowed, "\(redirected?.message ?? "allowed")")
    #expect(try proxy.nextLine() == "http://name.invalid/to/\(digits)")
    // The next that the proxy hears of is this, and nothing of the above.
    _ = try await downloads.fetch("http://name.invalid/last").result.get()
    #expect(try proxy.nextLine() == "http://name.invalid/last")
  }

  @Test("a host that no_proxy excepts is asked directly, and its address is checked")
  func exception() async throws {
    let proxy = try PythonServer(Self.proxy)
    let (error, _) = try await downloads(proxy, exceptions: "127.0.0.0/8,localhost").failure(
      "http://localhost:\(proxy.port)/")
    #expect(error?.code == .addressNotAllowed)
  }

  @Test(
    "a proxy that refuses a tunnel is an http-status error, and one that does not reach the host a connect error",
    arguments: [
      (403, .httpStatus), (407, .httpStatus), (301, .httpStatus), (502, .connect), (503, .connect), (504, .connect),
    ] as [(Int, TransferError.Code)])
  func refusal(status: Int, code: TransferError.Code) async throws {
    let proxy = try PythonServer(
      PythonServer.prelude + """
        def answer(connection, target):
            connection.sendall(b"HTTP/1.1 " + sys.argv[1].encode() + b" X\\r\\nContent-Length: 0\\r\\n\\r\\n")

        serve()
        """, ["\(status)"])
    let (error, _) = try await downloads(proxy).failure("https://name.invalid/a")
    #expect(error?.code == code && error?.httpStatus == (code == .connect ? nil : status))
    #expect(error?.isRetryable == (code == .connect))
    #expect(error?.message == "https://name.invalid/a: the proxy answered CONNECT with \(status)")
  }

  @Test("a proxy that is not there, or has no address, is a connect or dns error")
  func unreachable() async throws {
    let port = try LoopbackSocket.closedPort
    for (proxy, code) in [
      ("http://user:secret@127.0.0.1:\(port)", TransferError.Code.connect), ("socks5h://127.0.0.1:\(port)", .connect),
      ("http://user:secret@name.invalid", .dns),
    ] {
      let downloads = try Downloads { $0.proxies.override = try Proxy(parsing: proxy) }
      let (error, _) = try await downloads.failure("http://name.invalid/")
      #expect(error?.code == code, "\(error?.message ?? "")")
      #expect(error?.message.contains("secret") == false)
    }
  }
}

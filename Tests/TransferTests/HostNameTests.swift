import Testing

@testable import Transfer

@Suite struct HostNameTests {
  @Test(arguments: [
    ("http://example.com/a.jpg", "example.com"), ("HTTPS://Example.COM:8443?x", "example.com:8443"),
    ("https://user:p%40ss@example.com#f", "example.com"), ("http://[::1]:8080/a", "[::1]:8080"), ("http://h", "h"),
    ("https://h:443/", "h"),
    ("http://h:443/", "h:443"), ("http://[::1]:80/", "[::1]"), ("http://h:/", "h"),
    (#"http://h\@evil/a"#, "h"), ("http://a/@b", "a"),
  ])
  func `the host of a URL is what the transfer will take it for`(text: String, host: String) throws {
    #expect(SourceLocation.hostName(of: text) == host)
    let origin = try #require(SourceLocation.origin(of: text))
    #expect(origin == (text.lowercased().hasPrefix("https") ? "https://" : "http://") + host)
    #expect(SourceLocation.origin(of: origin) == origin && SourceLocation.hostName(of: origin) == host)
    guard !text.contains(#"\"#) else { return }
    let location = try SourceLocation(parsing: text)
    let root = try SourceLocation(origin: origin)
    #expect(root.scheme == location.scheme && root.host == location.host && root.port == location.port)
    #expect(location.hasUsualPort == (location.host == host))
  }

  @Test func `the root of a host without a scheme is that of http`() throws {
    let root = try SourceLocation(origin: "example.com:8080")
    #expect(root.scheme == .http && root.host == "example.com" && root.port == 8080 && !root.hasUsualPort)
  }

  @Test(arguments: [
    ("https://example.com", "example.com"), ("https://a.b.example.com:8080", "example.com"),
    ("img.example.co.uk", "example.co.uk"),
    ("me.github.io", "me.github.io"), ("a.me.github.io.", "me.github.io"),
    ("shop.bücher.example", "xn--bcher-kva.example"),
    // A public suffix, addresses, what has no domain.
    ("co.uk", "co.uk"), ("192.0.2.1", "192.0.2.1"), ("http://192.0.2.1:81", "192.0.2.1:81"),
    ("https://[::1]:80", "[::1]:80"),
    ("0x7f.1", "0x7f.1"), ("localhost", "localhost"), ("cache-7", "cache-7"), ("", ""), ("a b", "a b"),
  ])
  func `the registrable domain of a host is a label and a public suffix`(origin: String, domain: String) {
    #expect(PublicSuffixList().registrableDomain(of: origin) == domain)
  }

  @Test(arguments: [
    "", "a.jpg", "/a:b", "file:///a", "ftp://h/a", "http:/h", "http://", "http://:80/", "data:,x", "http://@",
  ])
  func `files and what names no host have none`(text: String) {
    #expect(SourceLocation.hostName(of: text) == nil && SourceLocation.origin(of: text) == nil)
  }
}

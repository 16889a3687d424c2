import Testing

@testable import Transfer

@Suite struct HostNameTests {
  @Test(arguments: [
    ("http://example.com/a.jpg", "example.com"), ("HTTPS://Example.COM:8443?x", "example.com"),
    ("https://user:p%40ss@example.com#f", "example.com"), ("http://[::1]:8080/a", "[::1]"), ("http://h", "h"),
    (#"http://h\@evil/a"#, "h"), ("http://a/@b", "a"),
  ])
  func `the host of a URL is what the transfer will take it for`(text: String, host: String) throws {
    #expect(SourceLocation.hostName(of: text) == host)
    if !text.contains(#"\"#) { #expect(try SourceLocation(parsing: text).host == host) }
  }

  @Test(arguments: [
    "", "a.jpg", "/a:b", "file:///a", "ftp://h/a", "http:/h", "http://", "http://:80/", "data:,x", "http://@",
  ])
  func `files and what names no host have none`(text: String) {
    #expect(SourceLocation.hostName(of: text) == nil)
  }
}

import Testing
import TestSupport

@testable import Transfer

@Suite struct PlainURLTests {
  @Test(
    "What is usual needs no parser",
    arguments: [
      "http://example.com/", "https://images.example.co.uk/a/b.jpg",
      "https://cdn-1.example.com/photo_1.JPG?w=200&h=100",
      "http://127.0.0.1:8080/00001.jpg", "https://example.com:8443/x", "http://localhost:1/a;b=1,c!$()*+:~/d",
      "http://h//x",
      "https://example.com/a?b?c/d.e", "http://x--1.example/", "http://1.2.example/a.b.jpg",
    ])
  func usual(_ text: String) { #expect(PlainURL(text) != nil) }

  @Test(
    "What libcurl changes, refuses, or might understand in another way is left to it",
    arguments: [
      "", "http://", "http:///x", "http://example.com", "http://example.com?x", "HTTP://example.com/",
      "http://Example.com/",
      "http://user@example.com/", "http://example.com/a@b", "http://example.com/a%20b", "http://example.com/a b",
      "http://example.com/ä", "http://ä.example/", "http://example.com/a#b", "http://example.com/./a",
      "http://example.com/a/../b", "http://example.com/..", "http://example.com/.a", "http://example.com/?",
      "http://example.com:/",
      "http://example.com:0/", "http://example.com:080/", "http://example.com:65536/", "http://example.com:8a/",
      "http://example..com/", "http://.example.com/", "http://example.com./", "http://127.1/", "http://0x7f.0.0.1/",
      "http://127.0.0.01/", "http://256.0.0.1/", "http://1.2.3.4.5/", "http://[::1]/", "http://example.com\\x",
      "http:/example.com/",
      "ftp://example.com/", "file:///x", "example.com/x", "http://example.com/a\nb", "http://example.com/a'b",
    ])
  func unusual(_ text: String) { #expect(PlainURL(text) == nil) }

  /// URLs of all combinations of parts, usual and not.
  private static let combined: [String] = {
    let hosts = [
      "example.com", "a.b-c.d_e", "1.2.x", "127.0.0.1", "127.1", "0.0.0.0", "255.255.255.255", "1.2.3.04", "0x1.x",
      "x.0x1",
      "-.a", "_", "a..b", "u:p@h", "H", "h.",
    ]
    let ports = ["", ":1", ":80", ":443", ":65535", ":65536", ":08", ":", ":8x"]
    let paths = [
      "", "/", "//", "/a", "/a/b.c", "/a/", "/.", "/..", "/a/./b", "/a.", "/a..", "/a...b/c", "/~a;b=c", "/%41", "/a:b",
      "/?a", "/?",
      "/a?b=c&d", "/a?b/../c", "/a?b?c", "/a#b", "/a?b#c", "/a?/", "/a+b?c+d", "/a!$&()*+,;=", "/a|b",
    ]
    return ["http", "https"].flatMap { scheme in
      hosts.flatMap { host in ports.flatMap { port in paths.map { "\(scheme)://\(host)\(port)\($0)" } } }
    }
  }()

  /// Texts of characters that mean something in URLs, the same in each run.
  private static let random: [String] = {
    var generator = SplitMix64(seed: 97)
    let pieces = [
      "a", "b.c", ".", "1", "0", "255", "-", "_", ":", "/", "/", "?", "=", "&", "~", "+", ";", "%2e", "@", "#", "\\",
      "A",
    ]
    return (0..<20_000).map { _ in
      "http://"
        + (0..<Int.random(in: 1...9, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }
        .joined()
    }
  }()

  @Test("A URL that needs no parser is understood as libcurl understands it", arguments: [combined, random])
  func same(_ urls: [String]) throws {
    let plain = urls.filter { PlainURL($0) != nil }
    #expect(plain.count > 100 && plain.count < urls.count)
    for url in plain {
      let parsed = try SourceLocation(web: url, scheme: url.hasPrefix("https") ? .https : .http)
      #expect(try SourceLocation(parsing: url) == parsed, "\(url)")
      let port = parsed.port.map { $0 == (parsed.scheme == .https ? 443 : 80) ? "" : ":\($0)" } ?? ""
      #expect(SourceLocation.hostName(of: url) == (parsed.host ?? "") + port, "\(url)")
    }
  }
}

import Testing

@testable import Transfer

@Suite struct SourceLocationTests {
  @Test(
    "URLs are taken apart",
    arguments: [
      ("http://h/a.jpg", "h", "a.jpg", "http://h/a.jpg"),
      (
        "HTTPS://EXAMPLE.com:8443/x/b%20c.jpg?q=1#f", "example.com", "b c.jpg",
        "https://EXAMPLE.com:8443/x/b%20c.jpg?q=1"
      ),
      ("http://h", "h", "", "http://h/"),
      ("http://h/folder/", "h", "", "http://h/folder/"),
      ("http://h/a b.jpg?c d", "h", "a b.jpg", "http://h/a%20b.jpg?c+d"),
      ("http://h/x/../ü.jpg", "h", "ü.jpg", "http://h/%c3%bc.jpg"),
      ("http://127.1/a", "127.0.0.1", "a", "http://127.0.0.1/a"),
      ("http://[::1]:80/a", "[::1]", "a", "http://[::1]:80/a"),
      ("http://h/a%2Fb", "h", "b", "http://h/a%2Fb"),
    ])
  func web(text: String, host: String, last: String, request: String) throws {
    let location = try SourceLocation(parsing: text)
    #expect(location.host == host)
    #expect(location.lastPathComponent == last)
    #expect(location.requestText == request)
    #expect(location.redacted == text)
  }

  @Test(
    "file URLs and bare paths are files",
    arguments: [
      ("file:///a/b%20c.jpg", "/a/b c.jpg", "b c.jpg"), ("file:/a", "/a", "a"), ("FILE://LOCALHOST/a", "/a", "a"),
      ("file:///a?b#c", "/a", "a"), ("/a/b.jpg", "/a/b.jpg", "b.jpg"), ("a/b@2x.jpg", "a/b@2x.jpg", "b@2x.jpg"),
      ("12:30.jpg", "12:30.jpg", "12:30.jpg"), ("./a:b.jpg", "./a:b.jpg", "a:b.jpg"), ("//h/a", "//h/a", "a"),
      ("100%.jpg", "100%.jpg", "100%.jpg"),
    ])
  func files(text: String, path: String, last: String) throws {
    let location = try SourceLocation(parsing: text)
    #expect(location.scheme == .file)
    #expect(location.host == nil)
    #expect(location.requestText == path)
    #expect(location.lastPathComponent == last)
    #expect(location.redacted == text)
  }

  @Test(
    "userinfo is sent, and shown nowhere",
    arguments: [
      ("http://user:secret@h/a@b", "http://h/a@b"), ("https://secret@h", "https://h"),
      ("http:/user:secret@h/a", "http:/h/a"), ("http:///user:secret@h/a", "http:///h/a"),
      ("http://user:secret@h?x@y", "http://h?x@y"), ("http://h/a@b", "http://h/a@b"),
    ])
  func redaction(text: String, shown: String) throws {
    let location = try SourceLocation(parsing: text)
    #expect(location.redacted == shown)
    #expect(location.requestText.contains("secret") == text.contains("secret"))
  }

  @Test("a key is for one scheme, user, password, host and port")
  func scope() throws {
    let urls = [
      "http://h/", "https://h/", "http://g/", "http://h:81/", "http://alice@h/", "http://bob@h/", "http://alice:x@h/",
      "http://alice:y@h/", "http://:x@h/",
    ]
    let scopes = try urls.map { try SourceLocation(parsing: $0).scope(of: "k") }
    #expect(Set(scopes).count == urls.count)
    #expect(try SourceLocation(parsing: "http://H:80/b").scope(of: "k") == scopes[0])
    #expect(scopes[0] == "key http:h:80 k", "what was stored before stays valid")
  }

  @Test(
    "what is malformed is refused, without its secrets",
    arguments: [
      "", "http://", "http:x", "http://h:99999/", "http://h:x/", "http://user:sec/ret@h/", "http://user:s@ecret@h/",
      "http://user:secret@[/", "http://ex ample/", "http://h/a\nb", "http://h/a\u{0}b", "http://u:secret@h/\u{7f}",
      "a\tb.jpg", "file:a", "file://host/a", "file:///a%00b", "file:///a%0Ab", "file:///caf%E9.jpg",
      "http://user:secret@\u{301}h h/",
      "http://h/" + String(repeating: "a", count: 65536),
    ])
  func malformed(text: String) {
    let error = #expect(throws: TransferError.self) { try SourceLocation(parsing: text) }
    #expect(error?.code == .urlInvalid)
    #expect(error?.isRetryable == false)
    for secret in ["secret", "sec/ret", "s@ecret"] { #expect(error?.message.contains(secret) == false) }
  }

  @Test(
    "other schemes are refused, and the message says which are allowed",
    arguments: [
      "ftp://u:secret@h/a", "data:image/png;base64,AA==", "gopher://h/", "s3://bucket/a", "C:\\a.jpg",
      "javascript:alert(1)",
    ])
  func schemes(text: String) {
    let error = #expect(throws: TransferError.self) { try SourceLocation(parsing: text) }
    #expect(error?.code == .schemeNotAllowed)
    #expect(error?.message.contains("http, https") == true)
    #expect(error?.message.contains("secret") == false)
  }
}

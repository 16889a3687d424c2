import Foundation
import TestSupport
import Testing

@testable import Transfer

/// What reaches a server of a request that is more than a GET.
@Suite(.blocking) struct SourceRequestTests {
  @Test(
    "a body is sent as it is, whatever is in it, by each method that takes one",
    arguments: SourceRequest.Method.allCases)
  func body(method: SourceRequest.Method) async throws {
    guard method != .get else { return }
    let server = try EchoServer.shared
    let long = String(repeating: "x", count: SourceRequest.maxContentBytes)
    for text in ["", "a=1&b=2", "{\"é\": \"\u{0}\\r\\n\"}\r\n\r\n", long] {
      let request = try SourceRequest(method: method, headers: [], content: .body(text))
      let seen = try await Downloads().seen(request, at: server.url("a"))
      #expect(seen.line == "\(method.rawValue) /a HTTP/1.1")
      #expect(seen.body == text)
      #expect(seen.fields["content-length"] == "\(text.utf8.count)")
      #expect(seen.fields["content-type"] == "application/x-www-form-urlencoded")
      #expect(seen.fields["expect"] == nil)
    }
  }

  @Test("a POST without anything has an empty body")
  func nothing() async throws {
    let server = try EchoServer.shared
    let seen = try await Downloads().seen(SourceRequest(method: .post, headers: [], content: nil), at: server.url("a"))
    #expect(seen.line == "POST /a HTTP/1.1")
    #expect(seen.fields["content-length"] == "0")
  }

  @Test("header fields are sent as they are, instead of libcurl's own")
  func headers() async throws {
    let server = try EchoServer.shared
    let headers = try [
      HeaderField("Authorization", "Bearer abc"), HeaderField("X-Empty", ""), HeaderField("User-Agent", "me"),
      HeaderField("Accept", "image/*"), HeaderField("X-Two", "1"), HeaderField("X-Two", "\t2 "),
    ]
    let request = try SourceRequest(method: .get, headers: headers, content: nil)
    let seen = try await Downloads().seen(request, at: server.url("a"))
    #expect(seen.line == "GET /a HTTP/1.1")
    #expect(
      seen.fields.filter { $0.key != "host" } == [
        "authorization": "Bearer abc", "x-empty": "", "user-agent": "me", "accept": "image/*", "x-two": "1|2",
      ])
    #expect(seen.body.isEmpty)
  }

  @Test("a Referer of * is the URL that is asked for, without credentials and fragment, and stays so after a redirect")
  func ownReferer() async throws {
    let server = try EchoServer.shared
    let request = try SourceRequest(method: .get, headers: [HeaderField("referer", "*")], content: nil)
    for path in ["a?b=c", "redirect/302/" + server.url("d")] {
      let url = server.url(path)
      let start = url.replacing("//127", with: "//user:hush@127", maxReplacements: 1) + "#fragment"
      #expect(try await Downloads().seen(request, at: start).fields["referer"] == url)
    }
    let other = try SourceRequest(method: .get, headers: [HeaderField("X-Star", "*")], content: nil)
    #expect(try await Downloads().seen(other, at: server.url("a")).fields["x-star"] == "*")
  }

  @Test("a form is sent as multipart/form-data, by POST and by PUT", arguments: [SourceRequest.Method.post, .put])
  func form(method: SourceRequest.Method) async throws {
    let server = try EchoServer.shared
    let parts = try [
      FormPart(name: "title", content: .text("Zoë's \"cat\"\u{0}")), FormPart(name: "empty", content: .text("")),
      FormPart(name: "a\"b", content: .text("1"), filename: "c\"d.txt"),
      FormPart(name: "file", content: .text("a,b\r\n"), filename: "é.csv", type: "text/csv; charset=utf-8"),
    ]
    let request = try SourceRequest(method: method, headers: [], content: .form(parts))
    let seen = try await Downloads().seen(request, at: server.url("a"))
    #expect(seen.line == "\(method.rawValue) /a HTTP/1.1")
    let type = try #require(seen.fields["content-type"])
    let boundary = try #require(type.split(separator: "boundary=").last).description
    #expect(type == "multipart/form-data; boundary=\(boundary)")
    #expect(
      seen.body == """
        --\(boundary)\r
        Content-Disposition: form-data; name="title"\r
        \r
        Zoë's "cat"\u{0}\r
        --\(boundary)\r
        Content-Disposition: form-data; name="empty"\r
        \r
        \r
        --\(boundary)\r
        Content-Disposition: form-data; name="a%22b"; filename="c%22d.txt"\r
        Content-Type: text/plain\r
        \r
        1\r
        --\(boundary)\r
        Content-Disposition: form-data; name="file"; filename="é.csv"\r
        Content-Type: text/csv; charset=utf-8\r
        \r
        a,b\r
        \r
        --\(boundary)--\r

        """)
  }

  @Test(
    "after 301, 302 and 303 a POST becomes a GET, after 307 and 308 it stays one",
    arguments: [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
  func redirect(status: Int, method: String) async throws {
    let server = try EchoServer.shared
    let headers = try [HeaderField("Content-Type", "text/plain"), HeaderField("X-Key", "k")]
    let request = try SourceRequest(method: .post, headers: headers, content: .body("secret"))
    let seen = try await Downloads().seen(request, at: server.url("redirect/\(status)/\(server.url("a"))"))
    #expect(seen.line == "\(method) /a HTTP/1.1")
    #expect(seen.body == (method == "POST" ? "secret" : ""))
    #expect(seen.fields["content-type"] == (method == "POST" ? "text/plain" : nil))
    #expect(seen.fields["content-length"] == (method == "POST" ? "6" : nil))
    #expect(seen.fields["x-key"] == "k")
  }

  @Test("a form is sent again after 307")
  func formRedirect() async throws {
    let server = try EchoServer.shared
    let request = try SourceRequest(
      method: .post, headers: [], content: .form([FormPart(name: "a", content: .text("b"))]))
    let seen = try await Downloads().seen(request, at: server.url("redirect/307/\(server.url("x"))"))
    #expect(seen.line == "POST /x HTTP/1.1")
    #expect(seen.body.contains("name=\"a\"\r\n\r\nb\r\n"))
  }

  @Test(
    "header fields and credentials are dropped when a redirect leaves the host, for good",
    arguments: ["another port", "another name", "there and back"])
  func leaving(way: String) async throws {
    let (server, other) = (try EchoServer.shared, try EchoServer.start())
    let target =
      switch way {
      case "another port": other.url("a")
      case "another name": "http://localhost:\(server.port)/a"
      default: other.url("redirect/302/" + server.url("a"))
      }
    let headers = try [HeaderField("Authorization", "s"), HeaderField("Cookie", "s"), HeaderField("X-Key", "s")]
    for request in [
      try SourceRequest(method: .get, headers: headers, content: nil),
      try SourceRequest(method: .post, headers: headers, content: .body("text")),
    ] {
      let start = server.url("redirect/307/\(target)").replacing(
        "//127", with: "//user:password@127", maxReplacements: 1)
      let seen = try await Downloads().seen(request, at: start)
      #expect(seen.fields["authorization"] == nil && seen.fields["cookie"] == nil && seen.fields["x-key"] == nil)
      // What is sent there has to be what it says it is; curl sends it there, too.
      if request.method == .post, way != "there and back" { #expect(seen.body == "text") }
    }
  }

  @Test(
    "a header that is not a manifest's to set, or that could set others, is refused with a reason",
    arguments: [
      ("Host", "x", "is taken from the URL"), ("content-length", "1", "is computed"),
      ("Transfer-Encoding", "chunked", "belongs to the connection"),
      ("CONNECTION", "close", "belongs to the connection"),
      ("If-None-Match", "\"a\"", "--refresh"), ("Range", "bytes=0-1", "whole"), ("Accept-Encoding", "gzip", "unpacked"),
      ("Proxy-Authorization", "x", "--proxy"), ("", "x", "letters"), ("a b", "x", "letters"), ("a:", "x", "letters"),
      ("é", "x", "letters"), ("X", "a\r\nHost: b", "control"), ("X", "a\nb", "control"), ("X", "a\u{0}", "control"),
      ("X", "\u{7f}", "control"),
    ])
  func refused(name: String, value: String, reason: String) {
    let error = #expect(throws: SourceRequest.ParseError.self) { try HeaderField(name, value) }
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    #expect(error?.field == "headers")
  }

  @Test("a GET with content, a form with a Content-Type and too long headers are refused")
  func refusedRequests() throws {
    #expect(throws: SourceRequest.ParseError.self) { try SourceRequest(method: .get, headers: [], content: .body("")) }
    #expect(throws: SourceRequest.ParseError.self) {
      try SourceRequest(
        method: .post, headers: [HeaderField("content-type", "a/b")],
        content: .form([FormPart(name: "a", content: .text(""))]))
    }
    let long = try HeaderField("X", String(repeating: "x", count: SourceRequest.maxHeaderBytes))
    #expect(throws: SourceRequest.ParseError.self) { try SourceRequest(method: .get, headers: [long], content: nil) }
    for type in ["text", "a/b/c", "/b", "a/", "a/b\r\nX: y", "text/\u{e9}"] {
      #expect(throws: SourceRequest.ParseError.self) { try FormPart(name: "a", content: .text(""), type: type) }
    }
    for name in ["", "a\nb", "\u{0}"] {
      #expect(throws: SourceRequest.ParseError.self) { try FormPart(name: name, content: .text("")) }
    }
    #expect(throws: SourceRequest.ParseError.self) { try FormPart(name: "a", content: .text(""), filename: "a\r\nb") }
  }
}

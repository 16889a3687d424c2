import Foundation
import JSON
import Testing

@testable import Gallery

@Suite struct PageTextTests {
  @Test(arguments: [
    "", "plain", "</script>", "<!--<script>", "a & b", "\u{2028}\u{2029}", "€ \u{2027}\u{202a} <", "\u{e2}\u{80}",
    "\u{202e}gpj.<b>", "\u{0}\u{1f}\"\\",
  ])
  func `nothing in the data is markup, and a reader gets what was written`(text: String) throws {
    let json = JSONValue.object(["a": .string(text)]).text
    var bytes: [UInt8] = []
    PageText.append(json: json, to: &bytes)
    let escaped = String(decoding: bytes, as: UTF8.self)
    #expect(!escaped.contains { "<>&\u{2028}\u{2029}".contains($0) })
    #expect(try JSONValue(parsing: escaped)["a"]?.string == text)
  }

  @Test(arguments: [
    ("a/b.jpg", "a/b.jpg"), ("a b", "a%20b"), ("100%", "100%25"), ("#?:", "%23%3F%3A"), ("é", "%C3%A9"),
    ("javascript:alert(1)", "javascript%3Aalert%281%29"), ("\t", "%09"),
  ])
  func `a link is percent-encoded`(path: String, link: String) {
    #expect(PageText.link(path) == link && link.removingPercentEncoding == path)
  }

  @Test(arguments: [
    ("nothing here", "nothing here"), ("see https://me:word@h/a?b=c now", "see https://… now"),
    (#""http://h" and 'FTP://x'"#, #""http://…" and 'FTP://…"#), ("at https://h/a?x='b&sig=SECRET", "at https://…"),
    ("line 3: bad", "line 3: bad"),
    ("data:image/png;base64,AA", "data:…"), ("file:incoming/*.jpg", "file:…"),
  ])
  func `URLs are left out`(text: String, shown: String) { #expect(PageText.withoutURLs(text) == shown) }

  @Test func `a title is text`() {
    #expect(PageText.html(#"<a href="x">'&"#) == "&lt;a href=&quot;x&quot;&gt;&#39;&amp;")
  }

  @Test(arguments: [true, false])
  func `a template has its places, and begins and ends as pages are recognised`(isJob: Bool) {
    let template = isJob ? PageTemplate.job : .outbox
    let start = String(decoding: template.beforeTitles[0], as: UTF8.self)
    #expect(start.hasPrefix("<!doctype html>\n\(PageTemplate.marker)1 -->\n") && start.hasSuffix("<title>"))
    #expect(String(decoding: template.beforeData, as: UTF8.self).hasSuffix(#" id="data">"#))
    #expect(String(decoding: template.afterData, as: UTF8.self).hasPrefix("</script>"))
    #expect(String(decoding: template.afterData, as: UTF8.self).hasSuffix(PageTemplate.end))
  }
}

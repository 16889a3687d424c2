import Foundation
import TestSupport
import Testing

@testable import Manifests

/// What tells that a manifest that cannot be read has secrets.
@Suite struct SecretSignsTests {
  private func mayHoldSecrets(_ bytes: some Sequence<UInt8>) throws -> Bool {
    let folder = try TemporaryFolder()
    try Data(bytes).write(to: URL(fileURLWithPath: folder.file("m")))
    return ManifestFile(path: folder.file("m"), isCompressed: false).mayHoldSecrets
  }

  static let secrets = [
    #"[{"headers": {"X": "s"}"#, "{\"Headers\"\n :", #"{"header" {"X": "s"}"#, "{headers: {", "{'form': 1",
    "{\n  body = s;", "{\"url\": 1, body: 2", "a.jpg\n  header=X: s", "a.jpg\n\tAuthorization: s", "header=X: s",
    "a.jpg\n http-passwd = s", "a.jpg\n  all-proxy-passwd=s",
    "{\"Cookie\": \"s\"", "<key>headers</key>", "<key>body</key", "url,headers\n", "url;\"form\"\n",
    "sep=;\nurl;Body\n", "body\turl", "url|headers", "https://user:s@h/a", "https://s@h/a",
    #"["https:\/\/s@h\/a"]"#, #"["https:\/\/user:s@h\/a"]"#, "https//s@h/a", "htp://s@h/a", "//s@h/a",
    #"https:\\s@h/a"#, "https://h/a\thttps://s@h/a", "user:s@h/a", "s:@h/a", "ttps//us er:s@h",
    "url,x\nhttps://s@h/a,1", "https://user:s%40h/a", "https://s\u{ff20}h/a",
  ]

  @Test(arguments: secrets)
  func `keys, columns and users are found, wherever they stand`(text: String) throws {
    #expect(try mayHoldSecrets(text.utf8))
    let isColumn = text.hasPrefix("url") || text.hasPrefix("sep=") || text.hasPrefix("body\t")
    if !isColumn { #expect(try mayHoldSecrets("...\n\(text)\n...".utf8)) }
  }

  @Test(arguments: ["\"headers\": {", "  header=X: s", "https://user:s@h/a"], [0, 1, 7, 16])
  func `the ends of what is read at once hide none`(text: String, distance: Int) throws {
    let padding = repeatElement(UInt8(ascii: "."), count: (256 << 10) - 1 - distance) + [UInt8(ascii: "\n")]
    #expect(try mayHoldSecrets(padding + text.utf8))
  }

  @Test(arguments: [
    "", "header", "[\"header\", \"body\"]", #"{"format": "png", "name": "body"}"#,
    #"{"note": "a form: see header=1"}"#, "https://h/a?body=1&form=2", "https://h/header:1/a@b.jpg",
    "https://h:8080/me@2x.png", "photos//icon@2x.png", "https://h/a//b@c.jpg", "./12:30/me@home.jpg",
    "@eaDir/a.jpg", #"{"by": "me@home.example"}"#, "<string>body</string>",
    "<key>name</key><string>header</string>", "name: me@home.example", "url,name\nheaders,body\n",
    "WheadersTbodyTform", "https://h/me%402x.png", "photos//icon%402x.png", "caf\u{ff21}",
  ])
  func `words and signs that mean nothing else are none`(text: String) throws {
    // A list may have one line.
    #expect(try mayHoldSecrets(text.utf8) == (text == "header"))
    #expect(try !mayHoldSecrets("a.jpg\n\(text)".utf8))
  }

  @Test func `so it is in property lists, and in UTF-16`() throws {
    for (entry, isSecret) in [(["headers": ["X": "s"]], true), (["name": "headers"], false)] as [([String: Any], Bool)]
    {
      for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
        let list = try PropertyListSerialization.data(fromPropertyList: [entry], format: format, options: 0)
        // The format has keys and values alike.
        #expect(try mayHoldSecrets(list) == (isSecret || format == .binary))
      }
    }
    #expect(try mayHoldSecrets(#require("url,headers\n".data(using: .utf16))))
    #expect(try !mayHoldSecrets(#require("url,name\nheader,body\n".data(using: .utf16))))
  }
}

import Foundation
import TestSupport
import Testing

@testable import Manifests

@Suite struct OtherKindTests {
  @Test(
    arguments: [
      ("Samples/coffee.jpg", "a JPEG picture"), ("Samples/chelsea-small.png", "a PNG picture"), ("Package.swift", nil),
      ("Samples/demo.plist", nil),
    ] as [(String, String?)])
  func `a picture is called so`(file: String, kind: String?) throws {
    #expect(try OtherKind(of: ManifestFile(path: packageRoot + "/" + file))?.name == kind)
  }

  @Test(
    arguments: [
      ("PK\u{3}\u{4}\0\0[Content_Types].xmlPK\u{3}\u{4}xl/workbook.xml", "an Excel workbook (.xlsx)"),
      ("PK\u{3}\u{4}\0\0mimetypeapplication/vnd.oasis.opendocument.spreadsheet", "an OpenDocument spreadsheet (.ods)"),
      ("PK\u{3}\u{4}\0\0a.csv", "a ZIP archive"), ("PK,url\n", nil),
      ("\u{FEFF}<!DOCTYPE html><title>Log in</title>", "an HTML page"),
      ("<?xml version=\"1.0\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">", "a sitemap"),
      ("<?xml version=\"1.0\"?>\n<rss version=\"2.0\"><channel>", "a feed (RSS or Atom)"),
      ("<feed xmlns=\"http://www.w3.org/2005/Atom\">", "a feed (RSS or Atom)"),
      ("<?xml version=\"1.0\"?>\n<sitemapindex>", "a sitemap"), ("<plist><array/></plist>", nil),
      ("\"<html>\"\n", nil), ("url,note\na.jpg,<html>\n", nil), ("", nil),
    ] as [(String, String?)], ["json", "jsonl", "plist", "txt", "csv", "tsv"])
  func `what is no manifest is named for what it is, with what to do, whatever it is called`(
    text: (String, String?), suffix: String
  ) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("list." + suffix)
    try Data(text.0.utf8).write(to: URL(fileURLWithPath: path))
    let file = ManifestFile(path: path)
    let kind = try OtherKind(of: file)
    #expect(kind?.name == text.1)
    guard let kind, let format = ManifestFormats.format(of: suffix) else { return }
    let error = ManifestProblem(.syntax, "the file is \(kind.name), not a manifest; \(kind.remedy)", at: .file)
    #expect(throws: error) { try ManifestContent(format: format, file: file, list: nil).read(.pictures) { _ in } }
  }

  @Test func `a list that is compressed needs the extension`() throws {
    let folder = try TemporaryFolder()
    try Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]).write(to: URL(fileURLWithPath: folder.file("list.csv")))
    #expect(try OtherKind(of: ManifestFile(path: folder.file("list.csv")))?.remedy.contains(".csv.gz") == true)
  }

  @Test func `lines of JSON need another extension`() throws {
    let read = try ReadManifest("{\"url\":\"a\"}\n{\"url\":\"b\"}\n", as: "m.json")
    #expect(read.found == ["syntax @ line 2, column 1"])
    #expect(read.problems.first?.message.hasSuffix("give the file the extension .jsonl") == true)
  }

  @Test(arguments: [
    ("[\"a.jpg\"]", true), (" {\n  \"a\" : \"a.jpg\"}", true), ("{}", true), ("{ \"a\" = \"a.jpg\"; }", false),
    ("{ a = b; }", false), ("(a, b)", false),
  ])
  func `JSON that is called a property list needs another extension`(text: String, isJSON: Bool) throws {
    let problem = try ReadManifest(text, as: "m.plist").problems.first
    #expect(problem?.message.contains("give the file the extension .json") == isJSON, "\(problem?.message ?? "")")
  }

  @Test func `an old Excel workbook is named, too`() throws {
    let folder = try TemporaryFolder()
    try Data([0xD0, 0xCF, 0x11, 0xE0, 0]).write(to: URL(fileURLWithPath: folder.file("list.csv")))
    let kind = try OtherKind(of: ManifestFile(path: folder.file("list.csv")))
    #expect(kind?.name.contains("(.xls)") == true && kind?.remedy.contains("CSV") == true)
  }

  @Test(arguments: [
    ("{ “cat”: “a.jpg” }", "syntax @ line 1, column 3", "“"), ("[\"a\", ‘b’]", "syntax @ line 1, column 7", "‘"),
    ("{'a': 'b'}", "syntax @ line 1, column 2", "'"),
    ("[\"a.jpg\",\n]\n", "syntax @ line 2, column 1", "comma before ]"),
    ("{\"a\": \"a.jpg\" , }", "syntax @ line 1, column 17", "comma before }"),
    ("[“]", "syntax @ line 1, column 2", "“"),
    ("[\"a said “no”\n\"]", "syntax @ line 1, column 13", "unexpected newline"),
  ])
  func `quotes and commas that JSON has not are named`(text: String, found: String, words: String) throws {
    let read = try ReadManifest(text, as: "m.json")
    #expect(read.found == [found] && read.problems.first?.message.contains(words) == true, "\(read.problems)")
  }
}

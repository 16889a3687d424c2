import Foundation
import TestSupport
import Testing

@testable import Manifests

/// Lists that look like something else.
@Suite struct TextListTests {
  @Test(arguments: [
    "http://h/f_auto,url,w_100/a.jpg", "http://h/a.jpg;url", "photo, url, old.jpg", "url", "[{x}].jpg", "[\"x\"].jpg",
    "{a} b", "[2026] cat.jpg",
  ])
  func `a URL or a name of a file is no table and no JSON`(line: String) throws {
    let read = try ReadManifest(line + "\n", as: "m.txt")
    #expect(read.problems.isEmpty && read.entries.count == 1)
  }

  @Test(arguments: [
    "http://h/a.jpg, http://h/b.jpg", "http://h/a.jpg;\thttp://h/b.jpg",
    "http://h/a.jpg, http://h/b.jpg, http://h/c.jpg",
  ])
  func `URLs with commas between them are no mirrors`(line: String) throws {
    let read = try ReadManifest(line + "\nhttp://h/d.jpg,\n", as: "m.txt")
    #expect(read.found == ["syntax @ line 1"], "a URL alone may end so: \(read.problems)")
    #expect(read.problems.first?.message.contains("line of its own") == true)
  }

  @Test(arguments: [
    "Cookie: sid=S3CR3T", "AUTHORIZATION : Bearer S3CR3T", "header=Cookie: S3CR3T", "http-passwd=S3CR3T",
    "Proxy-Authorization:S3CR3T", "header: X: S3CR3T", "Authorization=Bearer S3CR3T", "headers=S3CR3T",
  ])
  func `a header whose indentation was forgotten is no URL, and is not quoted`(line: String) throws {
    for before in ["http://h/a.jpg\n", ""] {
      let text = before + line + "\nhttp://h/b.jpg\n"
      let read = try ReadManifest(text, as: "m.txt")
      let number = before.isEmpty ? 1 : 2
      #expect(read.found == ["syntax @ line \(number)"])
      #expect(!read.problems.contains { $0.description.contains("S3CR3T") })
      let folder = try TemporaryFolder()
      try Data(text.utf8).write(to: URL(fileURLWithPath: folder.file("m.txt")))
      #expect(
        ManifestFile(path: folder.file("m.txt"), isCompressed: false).mayHoldSecrets, "the copy is not for everybody")
    }
  }

  @Test(arguments: [
    "cookie.jpg", "header.jpg?a=1", "Authorization/a.jpg", "a=b.jpg", "Note: a cat.jpg", "http://h/cookie:1",
  ])
  func `other names with such words are files and URLs`(line: String) throws {
    let read = try ReadManifest(line + "\n", as: "m.txt")
    #expect(read.problems.isEmpty && read.entries.count == 1, "\(read.problems)")
  }

  @Test func `a URL that is indented is not called an option`() throws {
    let read = try ReadManifest("http://h/a.jpg\n  http://h/b.jpg?x=1\n", as: "m.txt")
    #expect(read.found == ["syntax @ line 2"])
    #expect(read.problems.first?.message.hasPrefix("remove the blanks before the URL") == true, "\(read.problems)")
  }
}

import Testing

@testable import Model

/// Lists of URLs, with the option lines of aria2.
@Suite struct TextManifestTests {
  @Test("what a list means: each entry as URL=name", arguments: ["m.txt", "m.urls", "m.URLS"])
  func lists(file: String) throws {
    let text = """
      # comment
      http://h/a.jpg
        # a comment between a URL and its option

      \tout=travel/one.jpg
      http://h/b.png?x=1#f \t
      http://h/c
       out =  two words.png \u{20}
      \u{20}\u{20}

      """
    let planned = try Planned(text, as: file).sound()
    #expect(
      planned.entries.map { "\($0.urls[0])=\($0.name)" } == [
        "http://h/a.jpg=travel/one", "http://h/b.png?x=1#f=b", "http://h/c=two words",
      ])
    #expect(try Planned(text.replacing("\n", with: "\r\n"), as: file).entries == planned.entries)
  }

  @Test(
    "what is wrong: code, place and a word of the message",
    arguments: [
      ("http://h/a\n checksum=sha-256=00", "bad-value @ line 2: checksum", "64 hexadecimal digits"),
      ("http://h/a\n checksum=sha256=00", "bad-value @ line 2: checksum", "unknown checksum type \"sha256\""),
      (
        "http://h/a\n checksum=md5=5d41402abc4b2a76b9719d911017c592\n checksum=md5=5d41402abc4b2a76b9719d911017c592",
        "bad-value @ line 3: checksum", "already"
      ),
      ("url,name\nhttp://h/a,b", "syntax @ line 1", "give the file the extension .csv"),
      ("# pictures\nname; URL\nb;http://h/a", "syntax @ line 2", "give the file the extension .csv"),
      ("name\turl\nb\thttp://h/a", "syntax @ line 1", "give the file the extension .tsv"),
      ("{\"a\": \"http://h/a\"}", "syntax @ line 1", "extension .json, or .jsonl if"),
      ("[\n\"http://h/a\"\n]", "syntax @ line 1", "extension .json, or .jsonl if"),
      ("{ \"a\": \"http://h/a\" }", "syntax @ line 1", "extension .json, or .jsonl if"),
      ("\"url\",\"name\"\nhttp://h/a,b", "syntax @ line 1", "give the file the extension .csv"),
      ("sep=;\nurl;name\nhttp://h/a;b", "syntax @ line 1", "give the file the extension .csv"),
      ("http://h/a\n\n\theader=A", "bad-value @ line 3: header", "NAME: VALUE"),
      ("http://h/a\n Authorization: Basic aHVzaA==", "syntax @ line 2", "header=NAME: VALUE"),
      ("http://h/a\n header Authorization: Basic aHVzaA==", "syntax @ line 2", "header=NAME: VALUE"),
      ("http://h/a\n header=Host: b", "bad-value @ line 2: header", "taken from the URL"),
      ("http://h/a\n outt=a", "unknown-field @ line 2: outt", "did you mean \"out\"?"),
      ("http://h/a\n dri=/tmp", "unknown-field @ line 2: dri", "known: out"),
      ("http://h/a\n Dir=/tmp", "unknown-field @ line 2: Dir", "known: out"),
      ("http://h/a\n out", "syntax @ line 2", "NAME=VALUE"),
      ("http://h/a\n out=", "bad-value @ line 2: out", "needs a name"),
      ("http://h/a\n out=a\n out=b", "bad-value @ line 3: out", "already"),
      ("# list\n out=a\nhttp://h/a", "syntax @ line 2", "there is none"),
      ("http://h/a\rhttp://h/b\r", "syntax @ line 1", "a carriage return ends no line: save it with LF or CRLF"),
      ("# list\rhttp://h/a\rhttp://h/b", "syntax @ line 1", "a carriage return ends no line: save it with LF or CRLF"),
      ("http://h/a\n out=x\nhttp://h/b\n out=X", "duplicate-name @ line 3", "at line 1"),
    ])
  func problems(text: String, found: String, word: String) throws {
    let planned = try Planned(text, as: "m.txt")
    #expect(planned.found == [found], "\(planned.problems)")
    #expect(planned.problems.first?.message.contains(word) == true, "\(planned.problems)")
  }

  @Test("a checksum is given as aria2 takes it")
  func checksum() throws {
    let planned = try Planned(
      "http://h/a\n  checksum=md5=5D41402ABC4B2A76B9719D911017C592\n  out=b\nhttp://h/c", as: "m.txt")
    #expect(planned.problems == [])
    #expect(planned.entries.map { $0.checksum?.description } == ["md5=5d41402abc4b2a76b9719d911017c592", nil])
    #expect(planned.entries.first?.name == "b")
  }

  @Test("mirrors are separated by tabs, headers repeated")
  func request() throws {
    let planned = try Planned(
      "http://h/a\t http://g/a\t\thttp://f/a\n header=X: 1\n header=X:2\n referer=http://h/\n out=b\nhttp://h/c\t",
      as: "m.txt")
    #expect(planned.problems == [])
    let entry = try #require(planned.entries.first)
    #expect(entry.urls == ["http://h/a", "http://g/a", "http://f/a"])
    #expect(entry.request.headers.map { "\($0.name)=\($0.value)" } == ["X=1", "X=2", "Referer=http://h/"])
    #expect(entry.name == "b")
    #expect(planned.entries.last?.urls.count == 1 && planned.entries.last?.request == .plain)
  }

  @Test("the example of aria2's manual is read, with one warning for what is ignored")
  func manual() throws {
    let text = """
      http://server/file.iso http://mirror/file.iso
        dir=/iso_images
        out=file.img
      http://foo/bar

      """
    for text in [text, text.replacing(" http", with: "\thttp")] {
      let planned = try Planned(text, as: "uri.txt").sound()
      #expect(
        planned.entries.map(\.urls) == [["http://server/file.iso", "http://mirror/file.iso"], ["http://foo/bar"]])
      #expect(planned.entries.map(\.name) == ["file.img", "bar"])
      #expect(planned.warnings.map { "\($0.code.rawValue) @ \($0.location)" } == ["ignored-option @ line 2"])
      #expect(planned.warnings.first?.message.hasSuffix(": dir") == true)
    }
  }

  @Test("ignored options are named once, whatever their values, and what has a password is known to")
  func ignored() throws {
    let planned = try Planned(
      "http://h/a\n split = 5\n dir=/x\n continue\nhttp://h/b\n max-connection-per-server=16\n dir=hush\n", as: "m.txt")
    #expect(planned.problems == [])
    #expect(planned.entries.count == 2)
    #expect(planned.warnings.count == 1)
    let warning = try #require(planned.warnings.first)
    #expect(warning.message.hasSuffix(": split, dir, continue, max-connection-per-server"))
    #expect(!warning.concernsSecrets)
    for secret in ["http-passwd=hush", "all-proxy=http://me:hush@proxy"] {
      let warning = try #require(try Planned("http://h/a\n \(secret)", as: "m.txt").warnings.first)
      #expect(warning.concernsSecrets && !warning.message.contains("hush"))
    }
  }

  @Test("a URL with spaces is one, unless each word is one")
  func spaces() throws {
    let planned = try Planned("http://h/a b.jpg\nhttp://h/?t=see http://x\nHTTP://h/a  https://h/b", as: "m.txt")
    #expect(
      planned.entries.map(\.urls) == [
        ["http://h/a b.jpg"], ["http://h/?t=see", "http://x"], ["HTTP://h/a", "https://h/b"],
      ])
  }

  @Test("everything that is wrong is told, up to the limit")
  func several() throws {
    let planned = try Planned(
      "http://h/a\n splitt=5\n\nhttp://h/b\n checksum=md5=0\nhttp://h/c", as: "m.urls")
    #expect(
      planned.found == ["unknown-field @ line 2: splitt", "bad-value @ line 5: checksum"])
    let many = "http://h/a\n" + String(repeating: " folder=/x\n", count: 250)
    #expect(try Planned(many, as: "m.txt").problems.count == 100)
  }

  @Test("JSON lines may be called ndjson")
  func ndjson() throws {
    #expect(try Planned("\"http://h/a\"\n\n{\"url\":\"http://h/b\"}", as: "m.ndjson").entries.count == 2)
  }
}

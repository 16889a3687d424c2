import JSON
import System
import Testing

@testable import Manifests

/// Formats know no field by themselves: they read what the vocabulary names.
@Suite struct FieldVocabularyTests {
  private static let books = FieldVocabulary(
    principal: "title", principalTitle: "title",
    cells: ["title": .textOrArray, "pages": .number, "index": .json, "shelf": .text, "notes": .extras],
    extras: "notes",
    options: [
      .init("shelf", field: "shelf") { .string($0) },
      .init("year", field: "pages") { text throws(ParseError) in
        guard let year = Int(text) else { throw .init("\(text) is no year") }
        return .integer(year)
      },
      .init("mark", field: "marks", memberLimit: 20) { .object([.init(String($0.prefix(1)), .string($0))]) },
      .init("star", field: "marks", memberLimit: 20) { .object([.init("*", .string($0))]) },
    ])

  @Test("each kind of cell is read as the vocabulary says; other columns are extras")
  func table() throws {
    let text = """
      title,pages,index,shelf,url,notes
      a,12,"[1,{""x"":null}]",03,u,"{""n"":1}"
      "[""b"",""c""]",12.5,,,,7
      [d,many,,,,

      """
    let read = try ReadManifest(text, as: "m.csv", Self.books)
    #expect(read.problems == [])
    #expect(
      read.entries.map(\.value.text) == [
        #"{"title":"a","pages":12,"index":[1,{"x":null}],"shelf":"03","notes":{"n":1,"url":"u"}}"#,
        #"{"title":["b","c"],"pages":12.5,"notes":7}"#, #"{"title":"[d","pages":"many"}"#,
      ])
  }

  @Test("what is wrong with a table is told in the vocabulary's names")
  func tableProblems() throws {
    let noColumn = try ReadManifest("Titel,url\na,b\n", as: "m.csv", Self.books)
    #expect(
      noColumn.problems.map(\.message) == [
        "the header needs a column \"title\"; it has \"Titel\", \"url\""
      ])
    let wrong = try ReadManifest("title,index,notes,x\na,[,\"[]\",1\n", as: "m.csv", Self.books)
    #expect(wrong.found == ["syntax @ line 2, column 3", "wrong-type @ line 2, column 5"])
    #expect(wrong.problems.last?.message.hasPrefix("\"notes\" must be an object, not an array") == true)
  }

  @Test(
    "names of fields are the vocabulary's, whatever their case, and other names stay as they are",
    arguments: [
      ("m.csv", "Title,PAGES,Blurb\na,12,b\n"), ("m.jsonl", #"{"Title":"a","PAGES":12,"Blurb":"b"}"#),
      ("m.json", #"[{"Title":"a","PAGES":12,"Blurb":"b"}]"#),
      ("m.json", #"{"x":{"TITLE":"a","pages":12,"Blurb":"b"}}"#),
    ])
  func names(file: String, text: String) throws {
    let read = try ReadManifest(text, as: file, Self.books)
    let more = file == "m.csv" ? #""notes":{"Blurb":"b"}"# : #""Blurb":"b""#
    #expect(read.entries.map(\.value.text) == [#"{"title":"a","pages":12,\#(more)}"#])
  }

  @Test("option lines set fields in the vocabulary's order, and members of one key are collected")
  func list() throws {
    let text = "a\n mark=xy\n star=1\n shelf = 3 \n mark=xz\n year=1999\nb\nc\td\n"
    let read = try ReadManifest(text, as: "m.txt", Self.books)
    #expect(read.problems == [])
    #expect(
      read.entries.map(\.value.text) == [
        #"{"title":"a","shelf":"3","pages":1999,"marks":{"x":["xy","xz"],"*":"1"}}"#, #""b""#,
        #"{"title":["c","d"]}"#,
      ])
  }

  @Test("an option that is unknown, given twice or not to be read is a problem with its place")
  func listProblems() throws {
    let text = " shelf=1\na\n shelf=1\n shelf=2\n year=x\n shlf=1\n"
    let read = try ReadManifest(text, as: "m.txt", Self.books)
    #expect(
      read.problems.map(\.description) == [
        "line 1: an indented line is an option of the title before it, and there is none",
        "line 4: shelf: the title has an option \"shelf\" already", "line 5: year: x is no year",
        "line 6: shlf: unknown option \"shlf\"; did you mean \"shelf\"?",
      ])
  }

  @Test("members beyond the limit are dropped, so that memory does not grow with them")
  func memberLimit() throws {
    let text = "a\n" + String(repeating: " star=12345\n", count: 10_000)
    let read = try ReadManifest(text, as: "m.txt", Self.books)
    #expect(read.entries.map { $0.value["marks"]?.text.utf8.count ?? 0 < 100 } == [true])
  }

  @Test("an entry may be called \"entries\": it has the principal field")
  func envelope() throws {
    #expect(try ReadManifest(#"{"entries":{"title":"a"}}"#, as: "m.json", Self.books).entries.map(\.key) == ["entries"])
    #expect(try ReadManifest(#"{"entries":{"url":"a"}}"#, as: "m.json", Self.books).entries.map(\.key) == ["url"])
  }
}

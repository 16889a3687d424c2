import Testing

@testable import Manifests

/// Dictionaries of entries of which one has the name of a key of another shape.
@Suite struct MisplacedFieldTests {
  @Test(arguments: [
    (#"{"source":"http://h/list","comment":"nightly list"}"#, "source"),
    (#"{"Source":"http://h/list"}"#, "Source"), (#"{"sources":["http://h/list"]}"#, "sources"),
    (#"{"source":{"url":"http://h/list"}}"#, "source"), (#"{"source":"file:**","default":{"quality":5}}"#, "source"),
    (#"{"url":"http://h/a","caption":"a cat"}"#, "url"), (#"{"urls":["http://h/a"]}"#, "urls"),
    (#"{"entries":{"entries":"http://h/a"}}"#, "entries.entries"), (#"{"default":{},"a":"http://h/a"}"#, "default"),
  ])
  func `it is read as it is written, with one warning`(text: String, place: String) throws {
    let read = try ReadManifest(text, as: "m.json")
    #expect(read.warnings.map { "\($0.code.rawValue) @ \($0.location)" } == ["misplaced-field @ \(place)"])
    #expect(read.problems.isEmpty && !read.entries.isEmpty)
  }

  @Test(arguments: [
    #"{"source":"http://h/list"}"#, #"{"source":"http://h/list","defaults":{"quality":5}}"#,
    #"{"defaults":{"quality":5},"entries":["http://h/a"]}"#, #"[{"url":"http://h/a","metadata":{"source":"x"}}]"#,
    #"{"a":"http://h/a","_source":"http://h/b"}"#, #"["http://h/source"]"#,
  ])
  func `other shapes have none`(text: String) throws {
    #expect(try ReadManifest(text, as: "m.json").warnings == [])
  }
}

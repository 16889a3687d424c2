import Testing

@Suite struct SwiftOutlineTests {
  private func declarations(_ source: String) -> [String] {
    SwiftOutline(source).declarations.map { ($0.isFilePrivate ? "-" : "") + $0.path.joined(separator: ".") }.sorted()
  }

  private func references(_ source: String) -> [String] {
    SwiftOutline(source).references.map { "\($0.scope.joined(separator: ".")): \($0.names.joined(separator: "."))" }
      .sorted()
  }

  @Test(arguments: ["struct", "class", "enum", "protocol", "actor", "public final class", "@MainActor indirect enum"])
  func `types are declared by every keyword`(keyword: String) {
    #expect(declarations("\(keyword) Outer: Base {}") == ["Outer"])
  }

  @Test func `nested types are declared by their qualified names`() {
    let source = """
      struct Outer { enum Inner { typealias Deep = Int }; func name() {}; protocol Last { associatedtype Item } }
      extension Other.Part { struct Added {} }
      """
    #expect(
      declarations(source)
        == ["Other.Part.Added", "Outer", "Outer.Inner", "Outer.Inner.Deep", "Outer.Last", "Outer.Last.Item"])
  }

  @Test(arguments: [
    ("private struct One { struct Inner { enum Deep {} } }", ["-One", "-One.Inner", "-One.Inner.Deep"]),
    ("fileprivate final class Two {}", ["-Two"]),
    ("struct Three { private enum Hidden {} }", ["-Three.Hidden", "Three"]),
    ("private var count: Int { 1 }; struct Four {}", ["Four"]),
    ("func make() { struct Local {} }", ["-1.Local"]),
  ])
  func `what is visible in its file only is marked`(source: String, expected: [String]) {
    #expect(declarations(source) == expected)
  }

  @Test func `generic parameters are declared where they are valid`() {
    let source = """
      struct Box<Value: Sequence, each Item> where Value.Element == Int { func map<Other>(_ other: Other) {} }
      func swap<First, Second>(_ first: First) -> Second {}
      """
    #expect(declarations(source) == ["-Box.Other", "-First", "-Second", "Box", "Box.Item", "Box.Value"])
  }

  @Test(arguments: ["let class: Int", "class func make()", "a.protocol", "for actor in Actors {}", "import struct A.B"])
  func `keywords elsewhere declare nothing`(source: String) {
    #expect(declarations(source) == [])
  }

  @Test func `references have their scope and the names after their dots`() {
    let source = """
      struct Outer: Base {
        let inner: Map<Key, Outer.Inner.Deep>?
        func run() { for place in First.all...Second.last { place.Third = \\Fourth.name } }
      }
      @Fifth extension Other.Part: Sixth {}
      """
    #expect(
      references(source) == [
        ": Fifth", "Other.Part: Other.Part", "Other.Part: Sixth", "Outer.2.3: Fourth", "Outer.2: First",
        "Outer.2: Second", "Outer: Base", "Outer: Key", "Outer: Map", "Outer: Outer.Inner.Deep",
      ])
  }

  @Test func `imports name modules, not types`() {
    let outline = SwiftOutline(
      "@testable import Imaging\nimport struct Foundation.URL\npackage import Ledger\nimport C.Sub")
    #expect(outline.imports == ["Imaging", "Foundation", "Ledger", "C"])
    #expect(outline.references.isEmpty)
  }
}

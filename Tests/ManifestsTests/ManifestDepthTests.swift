import Foundation
import TestSupport
import Testing

@testable import Manifests

/// Nesting that a parser that calls itself would die of.
@Suite struct ManifestDepthTests {
  /// An array with one entry whose metadata brings the whole to this many levels.
  private static func json(depth: Int, innermost: String = "") -> String {
    let levels = depth - 2
    return #"[{"url":"http://h/a","metadata":"# + String(repeating: "[", count: levels) + innermost
      + String(repeating: "]", count: levels) + "}]"
  }

  private static func xml(depth: Int, innermost: String = "") -> String {
    let levels = depth - 2
    return PropertyList.xml(
      body: "<array><dict><key>url</key><string>http://h/a</string><key>metadata</key>"
        + String(repeating: "<array>", count: levels) + innermost + String(repeating: "</array>", count: levels)
        + "</dict></array>")
  }

  @Test("32 levels are fine", arguments: ["", "1"])
  func deepEnough(innermost: String) throws {
    #expect(try ReadManifest(Self.json(depth: 32, innermost: innermost), as: "m.json").found == [])
    let line = Self.json(depth: 33, innermost: innermost).dropFirst().dropLast()
    #expect(try ReadManifest(String(line), as: "m.jsonl").found == [], "a line is not nested in the file")
    let element = innermost.isEmpty ? "" : "<integer>\(innermost)</integer>"
    let text = Self.xml(depth: 32, innermost: element)
    #expect(try ReadManifest(text, as: "m.plist").found == [])
    let list = try PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil)
    #expect(try ReadManifest(PropertyList.binary(list), as: "m.plist").found == [])
  }

  @Test(
    "more values than there is memory for are rejected before they are read",
    arguments: [
      ("m.json", "[", "{}", ",", "]"), ("m.plist", "<plist><array>", "<dict/>", "", "</array></plist>"),
      ("m.plist", "<plist><?><array>", "<dict/>", "", "</array></plist>"),
    ])
  func tooMany(file: String, head: String, value: String, separator: String, end: String) throws {
    for (count, isTooMany) in [(1000, false), (ManifestFile.valueLimit + 1, true)] {
      let text = head + String(repeating: value + separator, count: count) + value + end
      let problems = try ReadManifest(Data(text.utf8), as: file).problems
      #expect(problems.contains { $0.code == .tooLarge } == isTooMany, "\(problems.count)")
    }
    let comma = try ReadManifest(
      "[\"\(String(repeating: ",[{\\\"", count: ManifestFile.valueLimit / 3))\"]", as: "m.json")
    #expect(comma.problems.contains { $0.code == .tooLarge } == false, "text has no values")
  }

  @Test("a binary property list may not refer to one value more often than there is memory for")
  func tooManyReferences() throws {
    let count = ManifestFile.valueLimit
    // An array whose elements are all the second object, with references of one byte.
    var bytes = Array("bplist00".utf8) + [0xAF, 0x12]
    bytes += (0..<4).reversed().map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
    bytes += Array(repeating: 1, count: count)
    let second = bytes.count
    bytes.append(0x09)
    let table = bytes.count
    for offset in [8, second] { bytes += (0..<4).reversed().map { UInt8(truncatingIfNeeded: offset >> ($0 * 8)) } }
    bytes += [0, 0, 0, 0, 0, 0, 4, 1]
    for number in [2, 0, table] { bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
    #expect(try ReadManifest(Data(bytes), as: "m.plist").problems.map(\.code) == [.tooLarge])
  }

  @Test("33 levels are too deep, empty or not", arguments: ["", "1"])
  func tooDeep(innermost: String) throws {
    let (json, element) = (Self.json(depth: 33, innermost: innermost), innermost.isEmpty ? "" : "<integer>1</integer>")
    #expect(try ReadManifest(json, as: "m.json").problems.map(\.code) == [.tooDeep])
    #expect(
      try ReadManifest(String(Self.json(depth: 34).dropFirst().dropLast()), as: "m.jsonl").problems.map(\.code) == [
        .tooDeep
      ]
    )
    let text = Self.xml(depth: 33, innermost: element)
    #expect(try ReadManifest(text, as: "m.plist").problems.map(\.code) == [.tooDeep])
    let list = try PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil)
    #expect(try ReadManifest(PropertyList.binary(list), as: "m.plist").problems.map(\.code) == [.tooDeep])
  }

  @Test("100 000 brackets are too deep", arguments: ["m.json", "m.jsonl"])
  func brackets(file: String) throws {
    for opening in ["[", #"{"a":"#] {
      let read = try ReadManifest(String(repeating: opening, count: 100_000), as: file)
      #expect(read.problems.map(\.code) == [.tooDeep])
    }
  }

  @Test(
    "10 000 levels of a property list are an error",
    arguments: [
      "<array>", "<dict><key>a</key>", "<array ><!-- </array> -->", "<array\n><![CDATA[</array>]]>",
      "<array><?x </array> ?>",
      "<array a=\"b\">", "<array><array/>", "<dict><key>a</key><array/><key>b</key>", "(", "{a=",
      "<array><string></array></string>",
      "<array></dict>",
    ])
  func deepXML(opening: String) throws {
    let text = String(repeating: opening, count: 10_000)
    for whole in [
      text, PropertyList.xml(body: text), "<plist>" + text, "\u{feff} \n<!-- x -->" + PropertyList.xml(body: text),
    ] {
      #expect(try ReadManifest(whole, as: "m.plist").problems.count == 1)
    }
  }

  @Test func `a property list in a property list is an error, as deep as it may be`() throws {
    for opening in ["<plist>", "<plist version=\"1.0\">\n", "<plist><array>"] {
      let text = String(repeating: opening, count: 200_000)
      #expect(
        try ReadManifest(text, as: "m.plist").problems.map(\.message) == [
          "there is a property list in the property list"
        ])
    }
    #expect(try ReadManifest(PropertyList.xml(body: "<dict/>") + "<plist/>", as: "m.plist").problems.count == 1)
  }

  @Test("an encoding in which nesting cannot be seen is refused", arguments: ["UTF-7", "utf-16", "UTF-32", "IBM037"])
  func encodings(name: String) throws {
    let text = #"<?xml version="1.0" encoding="\#(name)"?><plist version="1.0"><array/></plist>"#
    #expect(try ReadManifest(text, as: "m.plist").found == ["encoding @ "])
  }

  @Test(
    "an XML list may say that it is UTF-8, ASCII or Latin 1", arguments: ["UTF-8", "utf-8", "US-ASCII", "ISO-8859-1"])
  func knownEncodings(name: String) throws {
    let text = "<?xml version='1.0' encoding='\(name)'?><plist version='1.0'><array/></plist>"
    #expect(try ReadManifest(text, as: "m.plist").found == [])
  }

  @Test("10 000 levels of a binary property list are too deep")
  func deepBinary() throws {
    let arrays = (1..<10_000).map { PropertyList.array(of: [$0]) } + [PropertyList.array(of: [])]
    #expect(try ReadManifest(PropertyList.binary(objects: arrays), as: "m.plist").problems.map(\.code) == [.tooDeep])
    let pairs = (1..<10_000).map { PropertyList.dictionary(keys: [9999], values: [$0]) } + [PropertyList.string("a")]
    #expect(try ReadManifest(PropertyList.binary(objects: pairs), as: "m.plist").problems.map(\.code) == [.tooDeep])
  }

  @Test(
    "a binary property list that holds itself is an error",
    arguments: [
      [PropertyList.array(of: [0])], [PropertyList.array(of: [1]), PropertyList.array(of: [0])],
      [PropertyList.dictionary(keys: [1], values: [0]), PropertyList.string("a")],
      [PropertyList.dictionary(keys: [0], values: [1]), PropertyList.string("a")],
      [PropertyList.array(of: [1, 2]), PropertyList.array(of: []), PropertyList.array(of: [1, 2])],
    ])
  func cycle(objects: [[UInt8]]) throws {
    #expect(try ReadManifest(PropertyList.binary(objects: objects), as: "m.plist").problems.map(\.code) == [.syntax])
  }

  @Test("a small binary property list that unpacks to more than the limit is too large")
  func bomb() throws {
    let levels = 20
    let arrays =
      (1...levels).map { PropertyList.array(of: Array(repeating: $0, count: 14)) } + [PropertyList.string("a")]
    let read = try ReadManifest(PropertyList.binary(objects: arrays), as: "m.plist")
    #expect(read.found == ["too-large @ "])
  }

  @Test("objects may be shared")
  func shared() throws {
    let objects = [
      PropertyList.dictionary(keys: [1, 2], values: [3, 3]), PropertyList.string("a"), PropertyList.string("b"),
      PropertyList.dictionary(keys: [4], values: [5]), PropertyList.string("url"), PropertyList.string("http://h/x"),
    ]
    let read = try ReadManifest(PropertyList.binary(objects: objects), as: "m.plist")
    #expect(read.problems == [])
    #expect(read.entries.map(\.key) == ["a", "b"])
  }

  @Test("a damaged binary property list is an error or is read, never a crash")
  func damaged() throws {
    let whole = Array(
      try PropertyList.binary(["a": ["url": "http://h/x", "quality": 3], "b": ["http://h/y"]] as [String: Any]))
    for length in stride(from: 0, to: whole.count, by: 3) {
      #expect(try ReadManifest(whole[..<length], as: "m.plist").problems.count == 1, "\(length) bytes")
    }
    for position in whole.indices {
      for value: UInt8 in [0x00, 0x01, 0x7f, 0x80, 0xff, whole[position] ^ 0x10] {
        var bytes = whole
        bytes[position] = value
        _ = try ReadManifest(bytes, as: "m.plist")
      }
    }
  }

  @Test(
    "what only archives have is refused by name", arguments: [[0xc1, 0, 1], [0xb1, 0, 1], [0x80, 1]] as [[UInt8]])
  func archives(object: [UInt8]) throws {
    let list = PropertyList.binary(objects: [object, PropertyList.string("a")])
    #expect(try ReadManifest(list, as: "m.plist").found == ["wrong-type @ "])
  }

  @Test("keys of a binary property list are strings, each once", arguments: [[2, 2], [0, 1], [3, 2]])
  func keys(references: [Int]) throws {
    let list = PropertyList.binary(objects: [
      PropertyList.dictionary(keys: references, values: [1, 1]), PropertyList.string("http://h/a"),
      PropertyList.string("key"), [0x10, 7],
    ])
    #expect(try ReadManifest(list, as: "m.plist").problems.map(\.code) == [.syntax])
  }

  @Test("keys that differ only in their normal form are no crash")
  func twinKeys() throws {
    let body = "<dict><key>e\u{301}</key><string>http://h/1</string><key>\u{e9}</key><string>http://h/2</string></dict>"
    let read = try ReadManifest(PropertyList.xml(body: body), as: "m.plist")
    #expect(read.found == ["syntax @ line 1"])
  }
}

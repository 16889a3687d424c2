import Foundation
import JSON
import TestSupport
import Testing

@testable import Manifests

@Suite struct BinaryPropertyListTests {
  private static let samples: [any Sendable] = [
    0, 1, -1, 127, 128, 255, 256, 65_535, 65_536, Int(Int32.max), Int(Int32.min), 1 << 32, Int.max, Int.min, true,
    false,
    0.5, -0.25, 1e300, Float(1.5),
  ]

  @Test("values come out as Foundation put them in", arguments: 0..<19)
  func numbers(index: Int) throws {
    let number = Self.samples[index]
    let value = try BinaryPropertyList(PropertyList.binary(["value": number] as [String: Any])).read().value["value"]
    switch number {
    case let truth as Bool: #expect(value == .bool(truth))
    case let integer as Int: #expect(value == .integer(integer))
    case let real as Double: #expect(value == .number(real))
    case let real as Float: #expect(value == .number(Double(real)))
    default: Issue.record("\(number)")
    }
  }

  @Test("an integer beyond 64 bits is refused, and not rounded")
  func beyond() throws {
    let list = try PropertyList.binary(["value": NSNumber(value: UInt64.max)])
    let problem = #expect(throws: ManifestProblem.self) { try BinaryPropertyList(list).read().value }
    #expect(problem?.code == .badValue)
    #expect(problem?.location == .keyPath(["value"]))
  }

  @Test(
    "texts of every length and script",
    arguments: [
      "", "a", "fourteen bytes", "fifteen bytes..", String(repeating: "x", count: 70_000), "é", "日本語", "👩‍👩‍👧‍👦 emoji",
      String(repeating: "ü", count: 300),
    ])
  func texts(text: String) throws {
    let value = try BinaryPropertyList(PropertyList.binary([text: [text]])).read().value
    #expect(value == .object([JSONValue.Member(text, .array([.string(text)]))]))
  }

  @Test("a thousand members, in the order of their keys")
  func many() throws {
    let pairs = (0..<1000).map { ("key \($0)", $0) }
    let value = try BinaryPropertyList(PropertyList.binary(Dictionary(uniqueKeysWithValues: pairs))).read().value
    let expected = pairs.sorted { $0.0 < $1.0 }.map { JSONValue.Member($0.0, .integer($0.1)) }
    #expect(value == .object(expected))
  }

  @Test("U+0000 is kept in a text, and refused in a key, as in JSON")
  func nul() throws {
    let value = try BinaryPropertyList(PropertyList.binary(["a": "b\u{0}c"])).read().value
    #expect(value == .object([JSONValue.Member("a", .string("b\u{0}c"))]))
    let list = try PropertyList.binary(["x": ["a\u{0}": 1]])
    let problem = #expect(throws: ManifestProblem.self) { try BinaryPropertyList(list).read().value }
    #expect(problem?.code == .syntax && problem?.location == .keyPath(["x"]))
  }

  @Test("half a surrogate pair is an encoding problem")
  func surrogate() throws {
    let list = PropertyList.binary(objects: [PropertyList.array(of: [1]), [0x61, 0xd8, 0x00]])
    let problem = #expect(throws: ManifestProblem.self) { try BinaryPropertyList(Data(list)).read().value }
    #expect(problem?.code == .encoding)
    #expect(problem?.location == .keyPath(["[0]"]))
  }
}

import Foundation
import TestSupport
import Testing

@testable import Manifests

/// Manifests packed with gzip.
@Suite struct GzipManifestTests {
  private static let manifests = [
    ("m.json", #"["http://h/a","http://h/b"]"#), ("m.jsonl", "\"http://h/a\"\n\"http://h/b\""),
    ("m.ndjson", "\"http://h/a\"\n\"http://h/b\"\n"), ("m.txt", "http://h/a\nhttp://h/b"),
    ("m.urls", "http://h/a\nhttp://h/b"), ("m.csv", "url\nhttp://h/a\nhttp://h/b"),
    ("m.tsv", "url\tname\nhttp://h/a\t\nhttp://h/b\t"),
    ("m.plist", PropertyList.xml(body: "<array><string>http://h/a</string><string>http://h/b</string></array>")),
  ]

  @Test("every format may be packed, in one member or many, with zeros after it", arguments: manifests)
  func formats(file: String, text: String) throws {
    let expected = try ReadManifest(text, as: file)
    #expect(expected.entries.map(\.url) == ["http://h/a", "http://h/b"])
    let whole = try Gzip.packed([text.utf8])
    let members = try Gzip.packed(text.utf8.map { [$0] } + [[]])
    for packed in [whole, members, whole + Data(count: 700)] {
      #expect(try ReadManifest(packed, as: file + ".gz").entries == expected.entries)
      #expect(try ReadManifest(packed, as: file + ".GZ").entries == expected.entries)
    }
  }

  @Test("damage is a syntax problem that names gzip, wherever it is")
  func damage() throws {
    let text = (0..<2000).map { "http://h/\($0)/\($0 &* 7919 % 4001)" }.joined(separator: "\n")
    let packed = try Gzip.packed([text.utf8])
    var damaged = [Data(), Data(text.utf8), Data(packed.prefix(1)), packed + Data([1]), packed + Data([0, 0, 1])]
    for place in stride(from: 2, to: packed.count, by: packed.count / 40) {
      damaged.append(Data(packed.prefix(place)))
    }
    for place in [0, 1, 2, packed.count - 8, packed.count - 4, packed.count - 1] {
      var bytes = packed
      bytes[place] ^= 0x40
      damaged.append(bytes)
    }
    damaged.append(packed + packed.dropLast())
    for (number, bytes) in damaged.enumerated() {
      let read = try ReadManifest(bytes, as: "m.txt.gz")
      #expect(read.found == ["syntax @ "], "\(number)")
      #expect(read.problems.first?.message.contains("gzip") == true, "\(read.problems)")
    }
    let half = try ReadManifest(Data(packed.prefix(packed.count / 2)), as: "m.txt.gz")
    #expect(half.problems.first?.message == "the gzip data is cut off")
  }

  @Test(
    "a gzip bomb ends at once",
    arguments: [("m.json.gz", "[1"), ("m.plist.gz", "<"), ("m.txt.gz", ""), ("m.jsonl.gz", ""), ("m.csv.gz", "url\n")])
  func bomb(file: String, start: String) throws {
    let line = Data("\"\(String(repeating: "x", count: 1021))\"\n".utf8)
    let member = try Gzip.packed([Data((0..<8192).flatMap { _ in line })])
    var packed = try Gzip.packed([start.utf8])
    for _ in 0..<1000 { packed += member }
    // Of 8 GB, packed in 10 MB, little more than what is free is unpacked.
    let read = try ReadManifest(packed, as: file)
    #expect(read.found == ["too-large @ "])
    let unpacked = try #require(read.problems.first?.message.firstMatch(of: /became ([0-9]+)/)?.1)
    #expect(try #require(Int(unpacked)) < GzipReader.freeBytes + (1 << 20))
  }

  @Test("a line of a packed file has the limit of any line")
  func longLine() throws {
    let bytes = Data("http://h/".utf8) + Data(repeating: 120, count: 4 << 20)
    #expect(try ReadManifest(Gzip.packed([bytes]), as: "m.txt.gz").found == ["too-large @ line 1"])
    #expect(try ReadManifest(Gzip.packed([Data("url\n".utf8), bytes]), as: "m.csv.gz").found == ["too-large @ line 2"])
  }

  @Test("what must be read whole has its limit unpacked, and the problem says so")
  func wholeLimit() throws {
    // No piece repeats within the 32 KiB that gzip looks back, so this is no bomb.
    let piece = Data((0..<(64 << 10)).map { _ in UInt8.random(in: 97...122) })
    var bytes = Data("[\"".utf8)
    while bytes.count <= ManifestFile.wholeLimit { bytes += piece }
    let read = try ReadManifest(Gzip.packed([bytes]), as: "m.json.gz")
    #expect(read.found == ["too-large @ "])
    #expect(read.problems.first?.message.contains("67108864 bytes, unpacked") == true)
  }
}

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct FormatTests {
  static let names = ["astronaut.jpg", "chelsea-small.png", "coffee.jpg", "rocket.jpg"]

  /// The same four entries in each format, with names, by the base of their URLs.
  static let manifests: [(file: String, contents: @Sendable (String) throws -> Data)] = [
    (
      "a.json",
      { base in
        Data("{\(names.map { "\"\(stem($0))\": \"\(base)/\($0)\"" }.joined(separator: ","))}".utf8)
      }
    ),
    (
      "b.json",
      { base in
        Data("[\(names.map { "{\"url\": \"\(base)/\($0)\", \"name\": \"\(stem($0))\"}" }.joined(separator: ","))]".utf8)
      }
    ),
    (
      "c.json",
      { base in
        let entries = names.map { "\"\(base)/\($0)\"" }.joined(separator: ",")
        return Data("{\"defaults\": {\"filters\": \"sepia(0.8)\"}, \"entries\": [\(entries)]}".utf8)
      }
    ),
    ("d.jsonl", { base in Data(names.map { "\"\(base)/\($0)\"\n" }.joined().utf8) }),
    (
      "e.txt", { base in Data("# four pictures\n\(names.map { "\(base)/\($0)\r\n" }.joined())".utf8) }
    ),
    ("f.plist", { base in try propertyList(base, .xml) }),
    ("g.PLIST", { base in try propertyList(base, .binary) }),
  ]

  static func stem(_ name: String) -> Substring { name.prefix { $0 != "." } }

  static func propertyList(_ base: String, _ format: PropertyListSerialization.PropertyListFormat) throws -> Data {
    let list = Dictionary(uniqueKeysWithValues: names.map { (String(stem($0)), "\(base)/\($0)") })
    return try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
  }

  @Test func `every format leads to the same pictures and the same rows`() throws {
    let server = try Nginx(serving: packageRoot + "/Samples")
    let folders = try DarkroomFolders()
    for manifest in Self.manifests {
      try folders.drop(manifest.file, manifest.contents("http://127.0.0.1:\(server.port)"))
    }
    let run = try folders.run()
    #expect(run.status == 0, "\(run.error)")
    #expect(try folders.inboxNames().isEmpty)
    let reports = try Self.manifests.map { try folders.report(String(Self.stem($0.file))) }
    let first = try #require(reports.first)
    #expect(first.entries.map(\.name) == Self.names.map { String(Self.stem($0)) })
    for report in reports {
      #expect(report.state == "succeeded")
      #expect(report.entries.map(\.index) == [0, 1, 2, 3])
      #expect(report.entries.map(\.name) == first.entries.map(\.name))
      #expect(report.entries.map(\.url) == first.entries.map(\.url))
      #expect(report.entries.map(\.output) == first.entries.map(\.output))
      for output in report.entries.compactMap(\.output) {
        #expect(try folders.contents("\(report.job)/\(output.file)").count == output.bytes)
      }
    }
    #expect(run.output.split(separator: "\n").count == Self.manifests.count, "the path of each report is printed")
  }
}

import Foundation
import Manifests
import Testing
import TestSupport

@testable import Model

/// Tables that are read although something about them is doubtful.
@Suite struct DoubtfulTableTests {
  @Test(
    "a column that is nearly a field is a warning with its place and the field",
    arguments: [
      ("url,Names", "name", 5), ("url,filter", "filters", 5), ("filtres;url", "filters", 1),
      ("url, Qualty ", "quality", 5),
      ("url,check sum", "checksum", 5), ("url,Header", "headers", 5), ("url,piority", "priority", 5),
      ("url,FORMATS", "format", 5), ("url,meta_data", "metadata", 5), ("url,fliters,name", "filters", 5),
    ])
  func nearly(header: String, field: String, column: Int) throws {
    let separator = header.contains(";") ? ";" : ","
    let row = Array(repeating: "1", count: header.split(separator: separator).count).joined(separator: separator)
    let planned = try Planned(header + "\n" + row + "\n", as: "m.csv").sound()
    #expect(planned.warnings.map(\.code) == [.unknownColumn])
    #expect(planned.warnings.map(\.location) == [.line(1, column: column)])
    let message = try #require(planned.warnings.first?.message)
    #expect(message.hasSuffix("goes to \"metadata\"; did you mean \"\(field)\"?"), "\(message)")
    #expect(planned.entries.first?.metadata != nil)
  }

  @Test(
    "a column that is not is none, nor one beside the field itself",
    arguments: [
      "url,id", "url,title", "url,date", "url,author", "url,size", "url,price,city,day,src", "url,Urls",
      "url,name,Names",
      "url,_filter", "url,variation,after hours", "url,", "url,filters,filter",
    ])
  func another(header: String) throws {
    let planned = try Planned(header + "\n", as: "m.csv")
    #expect(planned.problems == [] && planned.warnings == [])
  }

  @Test("the line with the separator may be in capitals", arguments: ["SEP=;", "Sep=;", "sep=;"])
  func separatorLine(line: String) throws {
    let planned = try Planned("\(line)\r\nname;url\r\na;http://h/1,2\r\n", as: "m.csv")
    #expect(planned.problems == [] && planned.entries.map(\.name) == ["a"])
  }

  // MARK: Windows-1252

  /// A table in Windows-1252.
  private func windows(_ text: String) throws -> Data { try #require(text.data(using: .windowsCP1252)) }

  @Test("a table that is Windows-1252 as a whole is read, with a warning", arguments: ["m.csv", "m.csv.gz", "m.tsv"])
  func windows1252(file: String) throws {
    let separator = file == "m.tsv" ? "\t" : ","
    let text = ["url,name,tag", "http://h/1,cat,plain", "http://h/2,Zoë,“Café” 100 €"].joined(separator: "\n")
    let bytes = try windows(text.replacing(",", with: separator))
    let planned = try Planned(file.hasSuffix(".gz") ? Gzip.packed([bytes]) : bytes, as: file).sound()
    #expect(planned.entries.map(\.name) == ["cat", "Zoë"])
    #expect(planned.entries.last?.metadata?["tag"]?.string == "“Café” 100 €")
    #expect(planned.warnings.map(\.code) == [.encoding] && planned.warnings.map(\.location) == [.line(3)])
    #expect(planned.warnings.first?.message.contains("Windows-1252") == true)
  }

  @Test("it may be of any length, and its first letter beyond ASCII anywhere", arguments: [1, 15_000, 20_000])
  func long(row: Int) throws {
    let rows = (0..<20_001).map { "http://h/\($0),\($0 == row ? "ü" : "u")" }
    let planned = try Planned(windows("url,tag\n" + rows.joined(separator: "\n") + "\n"), as: "m.csv")
    #expect(planned.problems == [] && planned.entries.count == rows.count)
    #expect(planned.entries[row].metadata?["tag"]?.string == "ü")
    #expect(planned.warnings.map(\.location) == [.line(row + 2)])
  }

  /// Bytes that are no table in Windows-1252, and the line of what cannot be read.
  private static let mixtures: [([UInt8], Int)] = [
    (Array("url,tag\nx,é\ny,".utf8) + [0xe9, 0x0a], 3), (Array("url,tag\nx,".utf8) + [0xe9] + Array("\ny,é\n".utf8), 2),
    (Array("url,tag\nx,".utf8) + [0xe9] + Array("\ny,日\n".utf8), 2), (Array("url,tag\nx,".utf8) + [0x81, 0x0a], 2),
    (Array("url,tag\nx,".utf8) + [0xe9] + Array("\ny,z".utf8) + [0x9d], 2),
    ([0xef, 0xbb, 0xbf] + Array("url,tag\nx,".utf8) + [0xe9], 2), (Array("url,tag\nx,".utf8) + [0xe9, 0x00, 0x0a], 2),
  ]

  @Test("a mixture with UTF-8, and what Windows-1252 does not have, is not guessed at", arguments: mixtures)
  func mixture(bytes: [UInt8], line: Int) throws {
    let planned = try Planned(bytes, as: "m.csv")
    #expect(planned.found.first == "encoding @ line \(line), column 3", "\(planned.found)")
    #expect(planned.warnings == [])
  }

  @Test("a mixture is one also when its parts are far from one another")
  func farMixture() throws {
    let rows = String(repeating: "http://h/a,\(String(repeating: "plain", count: 200))\n", count: 600)
    let bytes = Array("url,tag\nx,".utf8) + [0xfc, 0x0a] + Array((rows + "y,ü\n").utf8)
    #expect(try Planned(bytes, as: "m.csv").found == ["encoding @ line 2, column 3"])
  }

  @Test("a table in UTF-8 is read as before, and without a warning", arguments: ["é", "日本", "👍🏽", "\u{ffff}", "Â€"])
  func utf8(text: String) throws {
    // The letter lies across two pieces of a read.
    let line = "http://h/" + String(repeating: "a", count: 1013) + ",\n"
    let head = "url,tag\n" + String(repeating: line, count: 255)
    for start in 1...4 {
      let row = "http://h/" + String(repeating: "b", count: (256 << 10) - head.utf8.count - 10 - start) + ","
      let planned = try Planned(head + row + text + "\n", as: "m.csv")
      #expect(planned.problems == [] && planned.warnings == [])
      #expect(planned.entries.last?.metadata?["tag"]?.string == text)
    }
  }

  @Test("a text list that is Windows-1252 as a whole is read, with a warning", arguments: ["m.txt", "m.urls.gz"])
  func windowsList(file: String) throws {
    let bytes = try windows("# “1”\nhttp://h/1\n out=Zoë\nhttp://h/Café\n")
    let planned = try Planned(file.hasSuffix(".gz") ? Gzip.packed([bytes]) : bytes, as: file).sound()
    #expect(planned.entries.map { "\($0.urls[0])=\($0.name)" } == ["http://h/1=Zoë", "http://h/Café=Café"])
    #expect(planned.warnings.map(\.code) == [.encoding] && planned.warnings.map(\.location) == [.line(1)])
  }

  @Test("a mixture with UTF-8 in a text list is not guessed at, nor is what Windows-1252 does not have")
  func mixedList() throws {
    let mixtures: [([UInt8], Int)] = [
      (Array("http://h/é\nhttp://h/".utf8) + [0xe9], 2), (Array("http://h/".utf8) + [0xe9] + Array("\n#é\n".utf8), 1),
      (Array("http://h/".utf8) + [0x81], 1), ([0xef, 0xbb, 0xbf] + Array("http://h/".utf8) + [0xe9], 1),
    ]
    for (bytes, line) in mixtures {
      let planned = try Planned(bytes, as: "m.txt")
      #expect(planned.found == ["encoding @ line \(line)"])
      #expect(planned.warnings == [])
    }
  }

  @Test("other formats stay UTF-8", arguments: ["m.jsonl", "m.json"])
  func others(file: String) throws {
    let text = file == "m.json" ? "[\"http://h/ü\"]" : "\"http://h/ü\"\n"
    #expect(try Planned(windows(text), as: file).problems.map(\.code) == [.encoding])
  }
}

import Foundation
import Testing
import TestSupport

@testable import Model

/// Numbers reach the report as they are, or the manifest is rejected: none is rounded or wrapped without a word.
@Suite struct ManifestNumberTests {
  private static let beyond = [
    "9223372036854775808", "-9223372036854775809", "18446744073709551615", "1e999", "-1e309",
  ]

  @Test("a number beyond 64 bits in JSON rejects the manifest, and the message says what to do", arguments: beyond)
  func json(number: String) throws {
    for (field, file) in [("metadata", "m.json"), ("quality", "m.json"), ("metadata", "m.jsonl")] {
      let entry = "{\"url\":\"x\",\"\(field)\":"
      let planned = try Planned(file == "m.json" ? "[\n\(entry)\(number)}]" : "\"y\"\n\(entry)\(number)}", as: file)
      #expect(planned.found == ["bad-value @ line 2, column \(entry.count + number.count)"])
      #expect(planned.problems.first?.message.contains("write a larger one as a string") == true)
    }
    let cell = try Planned("url,metadata\nx,\(number)\n", as: "m.csv")
    #expect(cell.found == ["bad-value @ line 2, column 3"])
  }

  @Test(
    "the largest and the smallest are kept to the digit",
    arguments: ["9223372036854775807", "-9223372036854775808", "1e-999", "1.5", "0", "-0.0", "1e308", "5e-324"])
  func kept(number: String) throws {
    let planned = try Planned("[{\"url\":\"x\",\"metadata\":\(number)}]", as: "m.json").sound()
    let text = try #require(planned.entries.first?.metadata?.text)
    #expect(number.contains(/[.e]/) ? Double(text) == Double(number) : text == number)
  }

  @Test(
    "a number of a property list that JSON cannot have is told with its path",
    arguments: [
      ("<integer>9223372036854775808</integer>", "bad-value @ [0].metadata"),
      ("<integer>0xffffffffffffffff</integer>", "bad-value @ [0].metadata"),
      ("<integer>99999999999999999999</integer>", "syntax @ line 1"),
      ("<real>1e999</real>", "bad-value @ [0].metadata"), ("<real>nan</real>", "bad-value @ [0].metadata"),
      ("<real>-inf</real>", "bad-value @ [0].metadata"),
    ])
  func propertyList(element: String, expected: String) throws {
    let body = "<array><dict><key>url</key><string>x</string><key>metadata</key>\(element)</dict></array>"
    let text = PropertyList.xml(body: body)
    #expect(try Planned(text, as: "m.plist").found == [expected])
    guard expected != "syntax @ line 1" else { return }
    let list = try PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil)
    #expect(try Planned(PropertyList.binary(list), as: "m.plist").found == [expected])
  }
}

import Testing

@testable import Darkroom

@Suite struct JSONValueTests {
  private static let texts = [
    "null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808", "0.5", "-0.0", "1e-07", "1e+22",
    "5e-324", "1.7976931348623157e+308", "0.1", "123456789.12345679", #""""#, #""\"\\\n\r\t""#,
    #""\u0001\u001b\u007f\u2028\u2029""#,
    #""/ü日👩‍👩‍👧‍👦""#, "[]", "{}", "[[[]],{}]", #"{"z":1,"a":{"y":[1,2.5,"x"],"b":null},"":""}"#,
  ]

  @Test("a text that was written reads as the same value, and is written the same", arguments: texts)
  func roundTrip(text: String) throws {
    let value = try JSONValue(parsing: text)
    #expect(value.text == text)
    #expect(try JSONValue(parsing: value.text) == value)
  }

  @Test(
    "spellings of the same value are written in one way",
    arguments: [
      (" [ 1 , 2 ] ", "[1,2]"), (#""\u00e9\/\ud83d\udc4d""#, #""é/👍""#), ("1E2", "100.0"), ("1.50", "1.5"), ("-0", "0"),
      (#""\b\f""#, #""\u0008\u000c""#), ("{\n\"a\"\t:\r\n1}", #"{"a":1}"#),
    ])
  func spellings(text: String, expected: String) throws {
    #expect(try JSONValue(parsing: text).text == expected)
  }

  @Test("every control character is escaped, so that a row stays on its line")
  func controls() throws {
    let all = String(String.UnicodeScalarView((1..<0x20).compactMap { UnicodeScalar($0) }))
    let text = JSONValue.string(all + "\u{7f}\u{2028}").text
    #expect(text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f })
    #expect(try JSONValue(parsing: text) == .string(all + "\u{7f}\u{2028}"))
  }

  @Test("a number that JSON cannot express is null", arguments: [Double.infinity, -.infinity, .nan])
  func notFinite(value: Double) {
    #expect(JSONValue.array([.number(value)]).text == "[null]")
  }

  @Test("any finite number reads back as itself")
  func numbers() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      let number = Double(bitPattern: generator.next())
      guard number.isFinite else { continue }
      #expect(try JSONValue(parsing: JSONValue.number(number).text) == .number(number))
    }
  }

  @Test(
    "what is no JSON is a problem with line and column",
    arguments: [
      ("", 1), ("nul", 1), ("[1,]", 1), ("{\"a\":1\n,}", 2), ("[1]\n2", 2), ("'a'", 1),
      ("\"a\nb\"", 1), ("NaN", 1), ("// c\n1", 1), ("[01]", 1), ("\"\\x\"", 1),
    ])
  func syntax(text: String, line: Int) {
    let problem = #expect(throws: ManifestProblem.self) { try JSONValue(parsing: text) }
    #expect(problem?.code == .syntax)
    guard case .line(line, column: .some(1...)) = problem?.place else {
      Issue.record("\(problem?.place.description ?? "no place")")
      return
    }
  }

  @Test("members without a value are left out, and the rest keeps its order")
  func members() {
    #expect(JSONValue.object(["b": .integer(1), "a": nil, "c": .null]).text == #"{"b":1,"c":null}"#)
  }
}

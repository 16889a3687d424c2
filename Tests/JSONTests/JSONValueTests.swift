import Testing

@testable import JSON

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
    let others = String(String.UnicodeScalarView((0x7f..<0xa0).compactMap { UnicodeScalar($0) }))
    let text = JSONValue.string(all + others + "\u{2028}").text
    #expect(text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f })
    #expect(try JSONValue(parsing: text) == .string(all + others + "\u{2028}"))
    #expect(JSONValue.string("\u{a0}é").text == "\"\u{a0}é\"")
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
    "a text that ends too early, or has nothing, is told as such",
    arguments: [
      ("", JSONError.Code.empty, 1), ("\n \t\n", .empty, 1), ("{", .incomplete, 1), ("{\"a\":\n", .incomplete, 2),
      ("[1,", .incomplete, 1), ("\"a", .incomplete, 1), ("[[1]\n\n", .incomplete, 3),
    ])
  func ended(text: String, code: JSONError.Code, line: Int) {
    let problem = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
    #expect(problem?.code == code)
    let words = code == .empty ? "the text is empty" : "the text ends too early: a value, a quotation mark or a closing"
    #expect(problem?.message.hasPrefix(words) == true)
    if code == .empty { return }
    guard case .line(line, column: 1...) = problem?.location else {
      Issue.record("\(problem?.description ?? "no error")")
      return
    }
  }

  @Test(
    "what is no JSON is an error with line and column",
    arguments: [
      ("", 1), ("nul", 1), ("[1,]", 1), ("{\"a\":1\n,}", 2), ("'a'", 1),
      ("\"a\nb\"", 1), ("NaN", 1), ("// c\n1", 1), ("[01]", 1), ("\"\\x\"", 1),
    ])
  func syntax(text: String, line: Int) {
    let problem = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
    #expect(problem?.code == (text.isEmpty ? .empty : .syntax))
    guard case .line(line, column: 1...) = problem?.location else {
      Issue.record("\(problem?.description ?? "no error")")
      return
    }
  }

  @Test(
    "an error has a code and its place",
    arguments: [
      ("[\n 18446744073709551615]", .numberTooLarge, "line 2, column 21: "),
      ("[1]\n2", .trailingText, "line 2, column 1: the JSON value has ended before this"),
      (
        #"{"a":[0,"# + String(repeating: "[", count: 31) + String(repeating: "]", count: 31) + "]}", .tooDeep, "a[1][0]"
      ),
      (
        #"{"a":1,"a":2}"#, .duplicateKey,
        "line 1, column 8: the key \"a\" occurs twice in its object; the first time at line 1, column 2"
      ),
    ] as [(String, JSONError.Code, String)])
  func errors(text: String, code: JSONError.Code, start: String) {
    let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
    #expect(error?.code == code)
    #expect(error?.description.hasPrefix(start) == true, "\(error?.description ?? "")")
  }

  @Test(
    "a common mistake is named where it was made",
    arguments: [
      (#"{"a":1,"# + "\n" + #" "ä":"x" "b":2}"#, "line 2, column 9: a comma is missing here"),
      (#"["a\\" "b\""]"#, "line 1, column 7: a comma is missing here"),
      ("[{}\n{}]", "line 1, column 4: a comma is missing here"),
      ("[[1] 2]", "line 1, column 5: a comma is missing here"),
      (#"{"a":{} "b":[]}"#, "line 1, column 8: a comma is missing here"),
      (#"{"a":[1, 2 "b" : 3}"#, "line 1, column 12: an array has no keys; a bracket"),
      (#"{"a":[1, 2, "b\"" :3}"#, "line 1, column 13: an array has no keys; a bracket"),
      (#"[{"a":"b"} "c":"d"}]"#, "line 1, column 12: an array has no keys; a bracket"),
      (#"[{"a":1 "b":2}]"#, "line 1, column 8: a comma is missing here"),
      (#"{"a":http://h}"#, "line 1, column 6: text has double quotes in JSON"),
      (#"{a:"b"}"#, "line 1, column 2: text has double quotes in JSON"),
      ("[True]", "line 1, column 2: text has double quotes in JSON"),
      ("nul", "line 1, column 1: text has double quotes in JSON"),
      (#"[{'a':"b"}]"#, "line 1, column 3: strings have straight double quotes in JSON, not '"),
      ("[“a”]", "line 1, column 2: strings have straight double quotes in JSON, not “"),
      ("[1 ,\n]", "line 2, column 1: JSON has no comma before ]; remove it"),
      (#"{"a":1,}"#, "line 1, column 8: JSON has no comma before }; remove it"),
      ("// cats\n[1]", "line 1, column 1: JSON has no comments; remove this one"),
      ("# cats\n[1]", "line 1, column 1: JSON has no comments; remove this one"),
      ("[1, /* two */ 2]", "line 1, column 5: JSON has no comments; remove this one"),
      ("{\"a\": \"The \"#1\" cat\"}", "line 1, column 13: '}' expected"),
      ("[1 # one\n]", "line 1, column 4: JSON has no comments; remove this one"),
      // Other mistakes.
      ("[1 / 2]", "line 1, column 4: ']' expected"),
      (#"{"a":"The "best" one"}"#, "line 1, column 15: '}' expected"),
      (#"["a" + "b"]"#, "line 1, column 6: ']' expected"), ("[1 - 2]", "line 1, column 4: ']' expected"),
      (#"["\x"]"#, "line 1, column 4: invalid escape"),
      (#"{"a" 1}"#, "line 1, column 6: ':' expected"),
      ("[01]", "line 1, column 2: invalid token"), ("[1 2", "line 1, column 3: a comma is missing here"),
    ])
  func mistakes(text: String, start: String) {
    let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
    #expect(error?.code == .syntax)
    #expect(error?.description.hasPrefix(start) == true, "\(error?.description ?? "")")
  }

  @Test("bytes that are not UTF-8 are an error, and U+0000 in a string is one unless it is allowed")
  func bytes() throws {
    let error = #expect(throws: JSONError.self) {
      try Array("[\"".utf8 + [0xff] + "\"]".utf8).withUnsafeBytes { try JSONDocument(parsing: $0).value() }
    }
    #expect(error?.code == .encoding && error?.message.hasSuffix(": the text must be UTF-8") == true)
    let text = Array(#""\u0000""#.utf8)
    #expect(throws: JSONError.self) { try text.withUnsafeBytes { try JSONDocument(parsing: $0).value() } }
    #expect(
      try text.withUnsafeBytes { try JSONDocument(parsing: $0, allowingNUL: true).value() } == .string("\u{0}"))
  }

  @Test("members of one key are grouped into an array, where the first of them stands")
  func grouping() {
    let members = [("b", 1), ("a", 2), ("b", 3)].map { JSONValue.Member($0.0, .integer($0.1)) }
    #expect(JSONValue.object(grouping: members).text == #"{"b":[1,3],"a":2}"#)
  }

  @Test("members without a value are left out, and the rest keeps its order")
  func members() {
    #expect(JSONValue.object(["b": .integer(1), "a": nil, "c": .null]).text == #"{"b":1,"c":null}"#)
  }
}

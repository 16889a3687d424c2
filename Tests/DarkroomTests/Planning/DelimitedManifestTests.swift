import Foundation
import Testing
import Transfer

@testable import Manifests
@testable import Model

/// Tables: `.csv` and `.tsv`.
@Suite struct DelimitedManifestTests {
  /// Each entry as URL=name.
  private func entries(_ text: String, as file: String = "m.csv") throws -> [String] {
    let planned = try Planned(text, as: file).sound()
    return planned.entries.map { "\($0.urls[0])=\($0.name)" }
  }

  @Test(
    "the same table in every dress",
    arguments: [
      "url,name\nhttp://h/1,a\nhttp://h/2,b", "url,name\r\nhttp://h/1,a\r\nhttp://h/2,b\r\n",
      "name;url\na;http://h/1\nb;http://h/2\n", "sep=;\r\nname;url\r\na;http://h/1\r\nb;http://h/2",
      "sep=,\nurl,name\nhttp://h/1,a\nhttp://h/2,b", "\"url\",\"name\"\n\"http://h/1\",\"a\"\n\"http://h/2\",b",
      "\n\nurl;name\n\nhttp://h/1;a\n;\n\nhttp://h/2;b\n\"\"\n", " url , name\t\nhttp://h/1,a\nhttp://h/2,b",
      "URL,Name\nhttp://h/1,a\nhttp://h/2,b",
      "url,name,_note\nhttp://h/1,a,\"x\ny\"\nhttp://h/2,b,", "url,name,\nhttp://h/1,a,\nhttp://h/2,b,\n",
      "url,name,_a,_a,checksum\nhttp://h/1,a,1,2,\nhttp://h/2,b,,,", "url,name\nhttp://h/1,a\nhttp://h/2,b\r",
    ])
  func dresses(text: String) throws {
    #expect(try entries(text) == ["http://h/1=a", "http://h/2=b"])
    for encoding in [String.Encoding.utf8, .utf16LittleEndian, .utf16BigEndian] {
      let bytes = try #require(("\u{feff}" + text).data(using: encoding))
      #expect(
        try Planned(bytes, as: "m.csv").entries.map { "\($0.urls[0])=\($0.name)" } == ["http://h/1=a", "http://h/2=b"])
    }
  }

  @Test(
    "quotes, separators and line breaks within cells",
    arguments: [
      ("url,name\n\"http://h/1,2;3\",\"a\"\"b\"", "m.csv", ["http://h/1,2;3=a_b"]),
      ("url\nhttp://h/1;2", "m.csv", ["http://h/1;2=1;2"]), ("name;url\na;http://h/1,2", "m.csv", ["http://h/1,2=a"]),
      ("\"url\";\"a,b\"\nhttp://h/1,2;x", "m.csv", ["http://h/1,2=1,2"]),
      ("url\tname\nhttp://h/1,2;3\ta b", "m.tsv", ["http://h/1,2;3=a b"]),
      ("name\turl\n\"a\tb\"\thttp://h/1", "m.tsv", ["http://h/1=ab"]),
      ("name,url\n\"a\r\nb\",http://h/1\n日本 👍🏽,http://h/2", "m.csv", ["http://h/1=ab", "http://h/2=日本 👍🏽"]),
      ("name,url\n\"\"\"\"\"\",http://h/1", "m.csv", ["http://h/1=__"]),
    ])
  func quoting(text: String, file: String, expected: [String]) throws {
    #expect(try entries(text, as: file) == expected)
    let wide = try #require(("\u{feff}" + text).data(using: .utf16BigEndian))
    #expect(try Planned(wide, as: file).entries.map { "\($0.urls[0])=\($0.name)" } == expected)
  }

  @Test("cells become fields of their types, empty ones are not given")
  func fields() throws {
    let planned = try Planned(
      "url,filters,format,quality,priority\nhttp://h/1,none,png, 70 ,high\nhttp://h/2,,,,\n", as: "m.csv")
    #expect(planned.problems == [])
    #expect(planned.entries.map(\.options.quality) == [70, 85])
    #expect(planned.entries.map(\.options.format) == [.png, nil])
    #expect(planned.entries.map(\.priority) == [.high, .normal])
    #expect(planned.entries.map(\.recipe.description) == ["none", "sepia(0.8)"])
  }

  @Test(
    "a whole number may be written as others are, in every format",
    arguments: [
      ("url,quality\nx,85.0\ny,1e2\n", "m.csv"),
      (#"[{"url":"x","quality":85.0},{"url":"y","quality":1e2}]"#, "m.json"),
      (#"{"url":"x","quality":8.5e1}"# + "\n" + #"{"url":"y","quality":100.0}"#, "m.jsonl"),
      (
        "<plist version=\"1.0\"><array><dict><key>url</key><string>x</string><key>quality</key><real>85</real></dict>"
          + "<dict><key>url</key><string>y</string><key>quality</key><real>100.0</real></dict></array></plist>",
        "m.plist"
      ),
    ])
  func wholeNumbers(text: String, name: String) throws {
    #expect(try Planned(text, as: name).sound().entries.map(\.options.quality) == [85, 100])
  }

  @Test("cells of blanks are empty")
  func blanks() throws {
    let planned = try Planned("url,name,filters,quality\nx, ,\t, \ny,b,none,7\n", as: "m.csv").sound()
    #expect(planned.entries.map(\.options.quality) == [85, 7])
    #expect(planned.entries.map(\.recipe.description) == ["sepia(0.8)", "none"])
  }

  @Test(
    "metadata is the JSON of its column and, as strings, the columns that are no fields",
    arguments: [
      ("url,size\nx,5\" screen", #"{"size":"5\" screen"}"#),
      ("url,a,b\nx, \"y\"\"z\",1", #"{"a":" \"y\"\"z\"","b":"1"}"#),
      ("url;a;b\nx;a\"\";c", #"{"a":"a\"\"","b":"c"}"#),
      ("url,metadata\nx,\"{\"\"a\"\":[1,{}]}\"", #"{"a":[1,{}]}"#), ("url,metadata\nx,[1]", "[1]"),
      ("url,metadata\nx,7", "7"), ("url,metadata\nx,", nil),
      ("url,id,Title\nx,007,\" b\"", #"{"id":"007","Title":" b"}"#),
      ("id,url,metadata,tag\n1,x,\"{\"\"a\"\":2}\",t", #"{"a":2,"id":"1","tag":"t"}"#),
      ("url,metadata,tag\nx,[1],", "[1]"), ("url,_tag,tag\nx,1,", nil), ("url,metadata,tag\nx, ,\t ", nil),
    ])
  func metadata(text: String, expected: String?) throws {
    let planned = try Planned(text, as: "m.csv").sound()
    #expect(planned.entries.map(\.metadata?.text) == [expected])
  }

  @Test(
    "what is wrong: code and place",
    arguments: [
      ("", "syntax @ "), ("\n\r\n", "syntax @ "), ("sep=;\n", "syntax @ "),
      ("name,URL,url\na,b,c", "syntax @ line 1, column 10"), ("\n\nhttp://h/1\n", "bad-value @ line 3, column 1"),
      ("url,name,url\n", "syntax @ line 1, column 10"), ("url,é,a b,é", "syntax @ line 1, column 11"),
      ("url,name\nx", "syntax @ line 2, column 2"), ("url,name\r\nx\r\ny,z", "syntax @ line 2, column 2"),
      ("url,name\nx,y,z,q\n", "syntax @ line 2, column 5"), ("url,name\n\"é\n\",ö,z", "syntax @ line 3, column 5"),
      ("url\nx,y", "syntax @ line 2, column 3"), ("url,name\n,,,", "syntax @ line 2, column 3"),
      ("url,name\nx,\"y\nz", "syntax @ line 2, column 3"), ("url\n\"", "syntax @ line 2, column 1"),
      ("url,name\nx,\"y\"z", "syntax @ line 2, column 6"), ("url,name\nx,\"y\" ", "syntax @ line 2, column 6"),
      ("url,name\nx,y\"z,1\"", "syntax @ line 2, column 7"), ("url,name\nx, \"y,z\"", "syntax @ line 2, column 7"),
      ("url\nx\ry", "syntax @ line 2, column 2"), ("url,\nx,y", "syntax @ line 2, column 3"),
      ("url,a\nx,\u{0}", "encoding @ line 2, column 3"), ("name\na", "bad-value @ line 1, column 1"),
      ("url,quality\nx,0", "bad-value @ line 2: quality"), ("url,quality\nx,good", "wrong-type @ line 2: quality"),
      ("url,quality\nx,8.5", "wrong-type @ line 2: quality"), ("url,quality\n,0", "bad-value @ line 2: quality"),
      ("url,name,quality\n\"a\nb\",1,\nx,\"\n\",\n\"\",z,0", "bad-value @ line 6: quality"),
      ("url,filters\nx,sepai(1)", "bad-recipe @ line 2: filters"), ("url,format\nx,gif", "bad-value @ line 2: format"),
      ("url,metadata\n\nx,{a}", "syntax @ line 3, column 3"),
      ("url,metadata,b\nx,[],1", "wrong-type @ line 2, column 3"),
      ("url,metadata,b\nx,\"{\"\"b\"\":1}\",1", "bad-value @ line 2, column 3"),
      (
        "url,metadata\nx,\(String(repeating: "[", count: 40))\(String(repeating: "]", count: 40))",
        "too-deep @ line 2, column 3"
      ),
      ("url,metadata\nx,\(String(repeating: "[", count: 100_000))", "too-deep @ line 2, column 3"),
      ("url\n[]", "bad-value @ line 2: url"), ("url,headers\nx,{", "syntax @ line 2, column 3"),
      ("url,form\nx,a=b", "syntax @ line 2, column 3"), ("url,headers\nx,[]", "wrong-type @ line 2: headers"),
      ("url,name\nx,a.jpg\ny,A", "duplicate-name @ line 3"),
    ])
  func problems(text: String, expected: String) throws {
    #expect(try Planned(text, as: "m.csv").found == [expected])
  }

  @Test("mirrors, headers and forms are JSON, method and body are not")
  func request() throws {
    let planned = try Planned(
      """
      url,method,headers,body,form
      "[""http://h/a"",""http://g/a""]",,"{""X"":""1""}",,
      http://h/b,PUT,,"{""a"":1}",
      http://h/c,,,,"{""f"":""x""}"
      """, as: "m.csv")
    #expect(planned.problems == [])
    #expect(planned.entries.map { Array($0.urls.dropFirst()) } == [["http://g/a"], [], []])
    #expect(planned.entries.map(\.request.method) == [.get, .put, .post])
    #expect(planned.entries[0].request.headers.map(\.line) == ["X: 1"])
    #expect(planned.entries[1].request.content == .body(#"{"a":1}"#))
    #expect(try planned.entries[2].request.content == .form([FormPart(name: "f", content: .text("x"))]))
  }

  @Test(
    "a row with an empty url is an entry without a URL, a blank line is none",
    arguments: [
      ("url,name,tag\n,b,\n,,t\n,,\nx,c,\n\n,,u", ["line-3", "line-7"]),
      ("name,tag,URL\nb,,\"\"\n,t,\nc,,x\n\n,u,\n", ["line-3", "line-6"]),
    ])
  func withoutURL(text: String, unnamed: [String]) throws {
    for file in ["m.csv", "m.tsv"] {
      let planned = try Planned(file == "m.csv" ? text : text.replacing(",", with: "\t"), as: file).sound()
      #expect(planned.urls.sorted() == ["", "", "", "x"])
      // What has no name either is found by its line.
      #expect(Set(planned.entries.map(\.name)) == Set(["b", "c"] + unnamed))
      #expect(planned.entries.compactMap { $0.metadata?["tag"]?.string } == ["t", "u"])
    }
  }

  @Test(
    "a row with too many or too few cells is told with what is missing",
    arguments: [
      ("url,name,tag\nx,a\n", "the row has 2 cells, the header 3; empty cells need their separators, too"),
      (
        "url;name\na;b;;\n",
        "the row has 4 cells, the header 2; those at the end are empty: remove the extra separators; or a cell that"
      ),
      ("url,name\nx,a,,b\n", "the row has 4 cells, the header 2; a cell that contains the separator needs quotes"),
      ("url,name\nx,a,b\n", "the row has 3 cells, the header 2; a cell that contains the separator needs quotes"),
    ])
  func cells(text: String, message: String) throws {
    #expect(try #require(try Planned(text, as: "m.csv").problems.first).message.hasPrefix(message))
  }

  @Test("all problems are told, and only 100 of them")
  func several() throws {
    let planned = try Planned("url,quality\nx\n\ny,0\nz,1,2\nq,a\n", as: "m.csv")
    #expect(
      planned.found == [
        "syntax @ line 2, column 2", "bad-value @ line 4: quality", "syntax @ line 5, column 5",
        "wrong-type @ line 6: quality",
      ])
    #expect(try Planned("url\n" + String(repeating: "a,b\n", count: 250), as: "m.csv").problems.count == 100)
  }

  private static let nameHint = ", and the column that names the pictures, if there is one, to \"name\""

  @Test(
    "a missing column url is told with what may be meant",
    arguments: [
      ("m.csv", "Bild;Größe;\n", "; it has \"Bild\", \"Größe\", \"\""),
      ("m.csv", "Urls,name\n", "; it has \"Urls\", \"name\"; rename \"Urls\" to \"url\""),
      (
        "m.csv", "Image Link;Größe;\n",
        "; it has \"Image Link\", \"Größe\", \"\"; rename \"Image Link\" to \"url\"" + Self.nameHint
      ),
      ("m.csv", "id,Bild-URL\n", "; it has \"id\", \"Bild-URL\"; rename \"Bild-URL\" to \"url\"" + Self.nameHint),
      ("m.tsv", "image_uri\tname\n", "; it has \"image_uri\", \"name\"; rename \"image_uri\" to \"url\""),
      (
        "m.csv", "LINK,name,image_url\n",
        "; it has \"LINK\", \"name\", \"image_url\"; rename \"LINK\" or \"image_url\" to \"url\""
      ),
      (
        "m.csv", "\((1...20).map { "c\($0)," }.joined())\(String(repeating: "x", count: 90))url\n",
        "; it has \((1...10).map { "\"c\($0)\"" }.joined(separator: ", ")), …; rename "
          + "\"\(String(repeating: "x", count: 60))…\" to \"url\"" + Self.nameHint
      ),
      ("m.csv", "name\turl\na\thttp://h/1\n", "; its columns are separated by tabs, as in .tsv"),
      ("m.csv", "name\tURL\na\thttp://h/1\n", "; its columns are separated by tabs, as in .tsv"),
      ("m.tsv", "url,name\nhttp://h/1,a\n", "; its columns are separated by commas, as in .csv"),
      ("m.csv", "url|name\nhttp://h/1|a\n", "; its columns are separated by \"|\", which neither .csv nor .tsv has"),
      ("m.tsv", "name | URL\na|http://h/1\n", "; its columns are separated by \"|\", which neither .csv nor .tsv has"),
      ("m.tsv", "name; url\na;http://h/1\n", "; its columns are separated by semicolons, as in .csv"),
    ])
  func hint(file: String, text: String, hint: String) throws {
    let message = try #require(try Planned(text, as: file).problems.first?.message)
    let said = "the header needs a column \"url\"" + hint
    #expect(hint.contains(" separated ") ? message.hasPrefix(said) : message == said, "\(message)")
  }

  @Test("a bad quality is told with its line, its column and its value", arguments: ["good", "8.5", "0", "-1", "101"])
  func quality(text: String) throws {
    let problem = try #require(try Planned("url,quality\nx,85\ny,\(text)\n", as: "m.csv").problems.first)
    #expect("\(problem)".hasPrefix("line 3: quality: "))
    #expect(problem.message.hasSuffix(text == "good" ? "not \"good\"" : "not \(text)"), "\(problem.message)")
    #expect(problem.message.contains("from 1 to 100"))
  }

  @Test("a row and the number of columns have limits")
  func limits() throws {
    let long = String(repeating: "x", count: DelimitedRows.lengthLimit)
    #expect(try Planned("url,_a\nx,\(long)\n", as: "m.csv").found == ["too-large @ line 2"])
    #expect(try Planned("url,_a\nx,\(long.dropLast(3))\n", as: "m.csv").found == [])
    let open = try Planned("url,_a\nx,\"\(String(repeating: "a\n", count: 1 << 20))", as: "m.csv")
    #expect(open.found == ["too-large @ line 2"])
    #expect(open.problems.first?.message.contains("line 2, column 3") == true)
    let names = (0..<DelimitedHeader.columnLimit).map { ",c\($0)" }.joined()
    #expect(try Planned("url\(names)\n", as: "m.csv").found.first?.hasPrefix("too-large @ line 1, column") == true)
    #expect(try Planned("url\(names.dropLast(6))\n", as: "m.csv").found == [])
  }

  /// Bytes, and the place of what is no text.
  private static let noText: [([UInt8], String)] = [
    (Array("url\nx\nhttp://h/".utf8) + [0x81], "line 3, column 1"),
    (wide("\u{feff}url\nx\n") + [0x3d, 0xd8, 0x41, 0x00], "line 3, column 1"),
    (wide("\u{feff}url,_a\nx,") + [0x00, 0xdc], "line 2, column 3"),
    (wide("\u{feff}url\nx") + [0x41], "line 2, column 1"),
    (wide("\u{feff}url\nx") + [0x3d, 0xd8], "line 2, column 1"),
    (wide("url\nx"), "line 1, column 1"),
  ]

  @Test("bytes that are no text are told with their place", arguments: noText)
  func encoding(bytes: [UInt8], place: String) throws {
    #expect(try Planned(bytes, as: "m.csv").found == ["encoding @ " + place])
  }

  private static func wide(_ text: String) -> [UInt8] {
    text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
  }

  @Test("rows and characters that lie across the pieces of a read stay whole")
  func pieces() throws {
    let rows = (0..<20_000).map { "http://h/\($0),\"é\n👍🏽\"\"\($0)\"" }
    let text = "url,tag\n" + rows.joined(separator: "\n")
    for encoding in [String.Encoding.utf8, .utf16LittleEndian] {
      let bytes = try #require(("\u{feff}" + text).data(using: encoding))
      let planned = try Planned(bytes, as: "m.csv")
      #expect(planned.entries.count == rows.count)
      #expect(planned.entries.last?.metadata == .object(["tag": .string("é\n👍🏽\"19999")]))
    }
  }
}

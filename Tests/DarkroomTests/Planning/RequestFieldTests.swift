import Testing
import Transfer

@testable import JobIndex
@testable import Model

/// The fields `url`, `method`, `headers`, `body` and `form` of an entry.
@Suite struct RequestFieldTests {
  private func planned(_ entry: String, defaults: String = "{}") throws -> Planned {
    try Planned(#"{"defaults":\#(defaults),"entries":{"a":\#(entry)}}"#, as: "m.json")
  }

  @Test(
    "what is wrong, and where; no message shows a value",
    arguments: [
      (#"{"url":[]}"#, "bad-value @ entries.a.url", "needs a URL"),
      (#"{"url":["http://h/","b",1]}"#, "wrong-type @ entries.a.url", "strings"),
      (#"{"url":["a","b",3]}"#, "wrong-type @ entries.a.url", "number 3"),
      ("{\"url\":[\(Array(repeating: "\"m\"", count: 65).joined(separator: ","))]}", "bad-value @ entries.a.url", "64"),
      (
        "{\"url\":\"x\",\"body\":\"\(String(repeating: "hush", count: 40_000))\"}", "bad-value @ entries.a.body",
        "131072"
      ),
      (
        "{\"url\":\"x\",\"form\":{\"f\":\"\(String(repeating: "hush", count: 40_000))\"}}",
        "bad-value @ entries.a.form", "131072"
      ),
      (#"{"url":"x","headers":{"Authorization: hush":null}}"#, "bad-value @ entries.a.headers", "name"),
      (#"{"url":{}}"#, "wrong-type @ entries.a.url", "array of strings"),
      (#"{"url":"x","method":"post"}"#, "bad-value @ entries.a.method", "POST"),
      (#"{"url":"x","method":"DELETE"}"#, "bad-value @ entries.a.method", "DELETE"),
      (#"{"url":"x","method":1}"#, "wrong-type @ entries.a.method", "a number"),
      (#"{"url":"x","method":"GET","body":"hush"}"#, "bad-value @ entries.a.method", "neither a body"),
      (#"{"url":"x","body":{"a":"hush"}}"#, "wrong-type @ entries.a.body", "an object"),
      (#"{"url":"x","body":"hush","form":{}}"#, "bad-value @ entries.a.form", "not both"),
      (#"{"url":"x","form":{},"body":"hush"}"#, "bad-value @ entries.a.body", "not both"),
      (#"{"url":"x","form":["hush"]}"#, "wrong-type @ entries.a.form", "an array"),
      (#"{"url":"x","form":{"f":1}}"#, "wrong-type @ entries.a.form", "\"f\""),
      (#"{"url":"x","form":{"f":{"filename":"hush"}}}"#, "bad-value @ entries.a.form", "content"),
      (#"{"url":"x","form":{"f":{"content":"hush","flename":"b"}}}"#, "unknown-field @ entries.a.form", "filename"),
      (#"{"url":"x","form":{"f":{"content":"hush","file":"hush"}}}"#, "bad-value @ entries.a.form", "either"),
      (#"{"url":"x","form":{"f":{"file":["hush"]}}}"#, "wrong-type @ entries.a.form", "the file of \"f\""),
      (#"{"url":"x","form":{"f":{"file":"http://hush/"}}}"#, "bad-value @ entries.a.form", "--file-root"),
      (#"{"url":"x","form":{"f":{"file":""}}}"#, "bad-value @ entries.a.form", "--file-root"),
      (#"{"url":"x","form":{"f":{"file":"hush/"}}}"#, "bad-value @ entries.a.form", "folder"),
      (
        "{\"url\":\"x\",\"form\":{\((0..<17).map { "\"f\($0)\":{\"file\":\"hush\"}" }.joined(separator: ","))}}",
        "bad-value @ entries.a.form", "17"
      ),
      (#"{"url":"x","form":{"f":{"content":"","type":"hush"}}}"#, "bad-value @ entries.a.form", "image/png"),
      (#"{"url":"x","form":{"":"hush"}}"#, "bad-value @ entries.a.form", "name"),
      (#"{"url":"x","headers":"A: hush"}"#, "wrong-type @ entries.a.headers", "a string"),
      (#"{"url":"x","headers":{"A":1}}"#, "wrong-type @ entries.a.headers", "\"A\""),
      (#"{"url":"x","headers":{"A":["b",null]}}"#, "wrong-type @ entries.a.headers", "\"A\""),
      (#"{"url":"x","headers":{"A":"hush\r\nHost: b"}}"#, "bad-value @ entries.a.headers", "line break"),
      (#"{"url":"x","headers":{"host":"hush"}}"#, "bad-value @ entries.a.headers", "URL"),
      (#"{"url":"x","headers":{"content-type":"hush"},"form":{"a":""}}"#, "bad-value @ entries.a.headers", "boundary"),
    ])
  func problems(entry: String, found: String, word: String) throws {
    let planned = try planned(entry)
    #expect(planned.found == [found], "\(planned.problems)")
    #expect(planned.problems.first?.message.contains(word) == true, "\(planned.problems)")
    #expect(planned.problems.first?.message.contains("hush") == false)
  }

  @Test("what all entries have from the defaults is kept once")
  func once() throws {
    let body = String(repeating: "b", count: 100_000)
    let urls = Array(repeating: #""u""#, count: 500).joined(separator: ",")
    let text = #"{"defaults":{"body":"\#(body)"},"entries":[\#(urls)]}"#
    let planned = try Planned(text, as: "m.json")
    #expect(planned.problems.isEmpty)
    #expect(planned.indexBytes < 500_000)
    #expect(planned.entries.allSatisfy { $0.request.content == .body(body) })
  }

  @Test("the text near a mistake of JSON's, which may be a secret, is not shown")
  func syntax() throws {
    for text in [#"{"a":{"headers":{"A":"hush" "b""#, #"{"a":{"headers":{"A" "hush"}}}"#, "{\"a\": hush}"] {
      let problem = try #require(try Planned(text, as: "m.json").problems.first)
      #expect(problem.code == .syntax && !problem.message.contains("hush"), "\(problem)")
    }
  }

  @Test("what an entry leaves out comes from the defaults; its own body or form stands instead of theirs")
  func defaults() throws {
    let defaults = #"{"headers":{"K":"1"},"body":"b"}"#
    func request(_ entry: String, _ defaults: String) throws -> SourceRequest {
      try #require(try planned(entry, defaults: defaults).entries.first).request
    }
    let headers = [try HeaderField("K", "1")]
    #expect(
      try request(#""http://h/""#, defaults) == SourceRequest(method: .post, headers: headers, content: .body("b")))
    #expect(
      try request(#"{"url":"x","form":{"f":"1"},"method":"PUT"}"#, defaults)
        == SourceRequest(method: .put, headers: headers, content: .form([FormPart(name: "f", content: .text("1"))])))
    #expect(
      try request(#"{"url":"x","method":"GET","headers":{"J":["2","3"]}}"#, defaults)
        == SourceRequest(method: .get, headers: [HeaderField("J", "2"), HeaderField("J", "3")], content: nil))
    #expect(try request(#"{"url":"x"}"#, #"{"method":"QUERY"}"#).method == .query)
    #expect(try planned(#""x""#, defaults: #"{"method":"GET","form":{}}"#).found == ["bad-value @ defaults.method"])
    #expect(try planned(#""x""#, defaults: #"{"url":"http://h/"}"#).found == ["unknown-field @ defaults.url"])
  }

  @Test("what the index keeps is what was read, and of a plain GET it keeps nothing")
  func stored() throws {
    let request = try SourceRequest(
      method: .patch, headers: [HeaderField("A", ""), HeaderField("B", "2"), HeaderField("B", "é")],
      content: .form([
        FormPart(name: "a", content: .text("\u{1}\"")),
        FormPart(name: "b", content: .text(""), filename: "f", type: "a/b"),
        FormPart(name: "c", content: .file(SourceLocation(parsing: "c/ü.PNG"))),
        FormPart(name: "d", content: .file(SourceLocation(parsing: "/c/d.raw")), filename: "e", type: "a/b"),
      ]))
    var entry = try Entry.sample(urls: ["a", "http://b/", "c"])
    entry.request = request
    var stored = try Entry.sample(urls: ["a"])
    try stored.adopt(requestText: #require(entry.requestText))
    #expect(stored == entry)
    #expect(try Entry.sample(urls: ["a"]).requestText == nil)
    let mirrors = try #require(try Entry.sample(urls: ["a", "b"]).requestText)
    stored = try .sample(urls: ["a"])
    try stored.adopt(requestText: mirrors)
    #expect(stored.urls == ["a", "b"] && stored.request == .plain)
  }

  @Test("requests that may be answered differently have different keys, and no key tells a secret")
  func keys() throws {
    let location = try SourceLocation(parsing: "http://h/a")
    let requests: [SourceRequest] = try [
      .plain, SourceRequest(method: .post, headers: [], content: nil),
      SourceRequest(method: .post, headers: [], content: .body("")),
      SourceRequest(method: .post, headers: [], content: .body("a")),
      SourceRequest(method: .put, headers: [], content: .body("a")),
      SourceRequest(method: .post, headers: [], content: .form([FormPart(name: "a", content: .text("b"))])),
      SourceRequest(
        method: .post, headers: [], content: .form([FormPart(name: "a", content: .text("b"), filename: "c")])),
      SourceRequest(method: .get, headers: [HeaderField("A", "b")], content: nil),
      SourceRequest(method: .get, headers: [HeaderField("A", "c")], content: nil),
    ]
    let keys = requests.map { CacheKey(location, $0).text } + ["1", "2"].map { CacheKey(location, files: $0).text }
    #expect(Set(keys).count == requests.count + 2)
    #expect(keys.allSatisfy { $0.count == 64 })
    #expect(CacheKey(location).text == keys[0])
  }

  @Test(arguments: [
    ("\u{e9}", "e\u{301}"), ("a\u{323}\u{307}", "a\u{307}\u{323}"), ("\u{212b}", "\u{c5}"),
  ])
  func `requests are told apart by their bytes`(texts: (String, String)) throws {
    let index = try JobIndex(creating: .memory)
    try index.fill {
      for (position, text) in [texts.0, texts.1, texts.0, texts.1].enumerated() {
        let request = try SourceRequest(method: .post, headers: [], content: .body(text))
        try index.insert(try .sample(position, request: request))
      }
    }
    let bodies = try (0..<4).map { position -> [UInt8] in
      guard case .body(let text)? = try index.entry(at: position)?.request.content else { return [] }
      return Array(text.utf8)
    }
    #expect(bodies == [texts.0, texts.1, texts.0, texts.1].map { Array($0.utf8) })
  }

  @Test("an entry's key comes back from the index, and defaults take none")
  func plannedKeys() throws {
    let long = String(repeating: "k", count: 1024)
    let planned = try Planned(
      #"[{"url":"http://h/1","cache-key":"ä/1"},{"url":["http://h/2","http://h/3"],"cache-key":"\#(long)"},"http://h/4"]"#,
      as: "m.json")
    #expect(planned.entries.map(\.key) == ["ä/1", long, nil])
    #expect(try Planned("url,cache-key\nhttp://h/1,a\nhttp://h/2,\n", as: "m.csv").entries.map(\.key) == ["a", nil])
    let defaults = try Planned(#"{"defaults":{"cache-key":"a"},"entries":["http://h/1"]}"#, as: "m.json")
    #expect(defaults.found == ["unknown-field @ defaults.cache-key"])
  }

  @Test("`key` is no field, but metadata")
  func otherKey() throws {
    let texts = [
      "m.csv": "url,key\nhttp://h/1,animals\nhttp://h/2,animals\n",
      "m.json": #"[{"url":"http://h/1","key":"animals"},{"url":"http://h/2","key":"animals"}]"#,
    ]
    for (file, text) in texts {
      let planned = try Planned(text, as: file)
      #expect(planned.problems == [] && planned.warnings == [])
      #expect(planned.entries.map(\.key) == [nil, nil])
      #expect(planned.entries.map(\.metadata) == Array(repeating: .object(["key": .string("animals")]), count: 2))
    }
  }

  @Test(
    "equal keys of URLs that differ before ? are a warning",
    arguments: [
      (["http://h/1?s=1", "http://h/2?s=1", "http://h/3"], 3), (["http://h/1?s=1", "http://g/1?s=1"], 2),
      (["http://h/1", "http://h/1?s=2"], 0), (["http://h/1#a", "http://h/1#b"], 0), (["a.jpg", "b.jpg"], 0),
    ])
  func sharedKeys(urls: [String], count: Int) throws {
    let rows = urls.map { #"{"url":"\#($0)","cache-key":"animals","variants":[{"name":"s"},{"name":"t"}]}"# }
    let others = [#"{"url":"http://h/8","cache-key":"b"}"#, "\"http://h/9\"", "\"http://h/10\""]
    let planned = try Planned((others + rows).joined(separator: "\n"), as: "m.jsonl").sound()
    #expect(
      planned.warnings.map { "\($0.code.rawValue) @ \($0.location)" }
        == (count == 0 ? [] : ["shared-key @ line 4: cache-key"]))
    if count > 0 { #expect(planned.warnings[0].message.hasPrefix("\(count) entries have the cache-key \"animals\"")) }
  }

  @Test("a key stands for the URL within its scheme, host and port, and for nothing else of the request")
  func namedKeys() throws {
    func key(_ url: String, _ key: String?, _ request: SourceRequest = .plain) throws -> CacheKey {
      CacheKey(try SourceLocation(parsing: url), request, key: key)
    }
    let named = try key("http://h/a?signed=1", "k")
    for url in ["http://h/b?signed=2", "http://H:80/", "http://h/a#x"] {
      #expect(try key(url, "k") == named, "\(url)")
    }
    let others = [
      try key("http://user:password@h/a", "k"), try key("http://h/a", "l"), try key("https://h/a", "k"),
      try key("http://h:81/a", "k"),
      try key("http://i/a", "k"), try key("http://h/a", nil), try key("http://h/key", nil),
      try key("http://h/a", "k", SourceRequest(method: .get, headers: [HeaderField("A", "b")], content: nil)),
    ]
    #expect(!others.contains(named) && Set(others).count == others.count)
  }
}

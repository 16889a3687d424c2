import Imaging
import JSON
import Testing
import TestSupport
import Transfer

@testable import Model

@Suite struct ReportRowTests {
  enum Kind: CaseIterable {
    case filtered, filteredFile, reused, coalesced, failedDownload, failedStatus, failedFilter, conflict, cancelled

    var isFailed: Bool { [.failedDownload, .failedStatus, .failedFilter, .conflict].contains(self) }
    var hasSource: Bool { ![.failedDownload, .failedStatus, .cancelled].contains(self) }
  }

  private static let texts = [
    "", "a", "photo 1/ä", "e\u{301}", "\u{e9}", "\"\\/\u{8}\u{c}\n\r\t", "\u{0}", "\u{1}\u{1f}\u{7f}",
    "\u{2028}\u{feff}",
    "👩‍👩‍👧‍👦", "\u{10ffff}", String(repeating: "x", count: 300),
  ]

  private static let metadata: [JSONValue?] = [
    nil, .null, .bool(false), .integer(.min), .integer(.max), .number(0.1), .number(-1e300), .string("\u{0}ä"),
    .array([]),
    .object([JSONValue.Member]()),
    .object(["k": .array([.null, .object(["": .string("")]), .number(1e-300)]), "state": .string("filtered")]),
  ]

  private static func picture(_ numbers: inout SplitMix64) -> ImageInfo {
    ImageInfo(
      format: ImageFormat.allCases.randomElement(using: &numbers) ?? .jpeg,
      width: .random(in: 1...100_000, using: &numbers),
      height: .random(in: 1...100_000, using: &numbers), frames: [1, 1, 2, 300].randomElement(using: &numbers) ?? 1)
  }

  private static func failure(_ kind: Kind, _ text: String) -> ReportRow.Failure? {
    switch kind {
    case .failedDownload:
      ReportRow.Failure(EntryFailure(code: .download(.dns), message: text, disposition: .retry(after: 3)))
    case .failedStatus:
      ReportRow.Failure(EntryFailure(TransferError(.httpStatus, text, httpStatus: 404)))
    case .failedFilter: ReportRow.Failure(EntryFailure(code: .filter(.imageCorrupt), message: text))
    case .conflict: ReportRow.Failure(.conflict(text))
    default: nil
    }
  }

  /// A row of a kind, with everything that such a row may have.
  private static func row(_ kind: Kind, _ numbers: inout SplitMix64) -> ReportRow {
    func text() -> String { texts.randomElement(using: &numbers) ?? "" }
    func milliseconds() -> Double? { Bool.random(using: &numbers) ? .random(in: 0...1e6, using: &numbers) : nil }
    let isMade = [.filtered, .filteredFile, .reused, .coalesced].contains(kind)
    // An output has one frame, whatever its source had.
    var picture = picture(&numbers)
    picture.frames = 1
    let hasRecovered = isMade && Bool.random(using: &numbers)
    var failure = failure(kind, text())
    if Bool.random(using: &numbers) {
      failure?.firstSeen = "2026-03-01T06:30:00.012Z"
      failure?.runs = 7
    }
    let source = ReportRow.Source(
      picture: kind == .failedFilter ? nil : Self.picture(&numbers), bytes: .random(in: 0...Int.max, using: &numbers),
      sha256: text(), httpStatus: [.coalesced, .filteredFile].contains(kind) ? nil : 200,
      isChanged: isMade && !hasRecovered ? [nil, true, false].randomElement(using: &numbers) ?? nil : nil)
    return ReportRow(
      index: .random(in: 0...Int.max, using: &numbers), name: text(), url: text(),
      finalURL: Bool.random(using: &numbers) ? text() : nil,
      state: isMade ? .filtered : kind.isFailed ? .failed : .cancelled, isReused: kind == .reused,
      isCoalesced: kind == .coalesced, isRecovered: hasRecovered,
      priority: Entry.Priority.allCases.randomElement(using: &numbers)?.rawValue ?? "",
      attempts: .random(in: 0...99, using: &numbers),
      output: isMade
        ? .init(
          file: text(), picture: picture, bytes: 7, sha256: text(),
          quality: [nil, 1, 85].randomElement(using: &numbers) ?? nil,
          metadata: ([nil] + MetadataPolicy.allCases).randomElement(using: &numbers) ?? nil)
        : nil,
      source: kind.hasSource ? source : nil, filters: text(),
      timings: .init(queued: milliseconds(), download: milliseconds(), filter: milliseconds()),
      failure: failure,
      warnings: kind == .filtered && Bool.random(using: &numbers)
        ? ReportRow.Warning.Code.allCases.map { .init(code: $0, message: text()) } : [],
      metadata: metadata.randomElement(using: &numbers) ?? nil)
  }

  @Test(arguments: Kind.allCases)
  func `a row comes back from its JSON as it was, and the JSON from it`(kind: Kind) throws {
    var numbers = SplitMix64(seed: 42)
    for _ in 0..<300 {
      let row = Self.row(kind, &numbers)
      let text = row.json.text
      let read = try ReportRow(parsing: text)
      #expect(read == row)
      #expect(read.json.text == text)
      #expect(Array(read.name.utf8) == Array(row.name.utf8), "strings that are equal in Swift may differ")
    }
  }

  @Test func `what a row does not have is left out of its JSON`() {
    let json = ReportRow.sample(state: .cancelled).json
    for key in [
      "final_url", "reused", "coalesced", "recovered", "output", "source", "timings_ms", "error", "warnings",
      "metadata",
    ] {
      #expect(json[key] == nil, "\(key)")
    }
  }

  @Test func `a row of version 0.1 is read`() throws {
    let row = try ReportRow(
      parsing: """
        {"index": 3, "name": "a", "url": "http://h/a", "state": "failed", "priority": "normal", "attempts": 4, \
        "filters": "none", "timings_ms": {"queued": 1, "download": 2.5}, "error": {"stage": "download", \
        "code": "no-longer-known", "message": "m", "http_status": 503, "retryable": true}, "later": []}
        """)
    #expect(row.index == 3 && row.state == .failed && row.attempts == 4)
    #expect(
      row.failure?.code == "no-longer-known" && row.failure?.httpStatus == 503 && row.failure?.isRetryable == true)
  }

  @Test(
    arguments: [
      "", "{", "[]", "{}", #"{"index":0,"name":"","url":"","attempts":1}"#,
      #"{"index":0,"name":"","url":"","attempts":1,"state":"new"}"#,
      #"{"index":"0","name":"","url":"","attempts":1,"state":"failed"}"#,
    ])
  func `what is no row is an error`(text: String) {
    #expect(throws: (any Error).self) { try ReportRow(parsing: text) }
  }

  @Test(arguments: Kind.allCases)
  func `what is searched for in a row's text is what the row says`(kind: Kind) {
    var numbers = SplitMix64(seed: 7)
    for number in 0..<300 {
      var row = Self.row(kind, &numbers)
      let sha256 = String(String(repeating: "0123456789abcdef", count: 4).dropFirst(number % 3) + "xyz").prefix(64)
      row.source = row.source.map {
        .init(
          picture: $0.picture, bytes: $0.bytes, sha256: String(sha256), httpStatus: nil, isChanged: $0.isChanged)
      }
      guard case .object(let members) = row.json else { continue }
      // What looks like a row is in the metadata.
      let other = ReportRow.sample(
        state: .filtered, source: .init(picture: nil, bytes: 1, sha256: String(sha256.reversed()), httpStatus: 200))
      let metadata = number % 2 == 0 ? other.json : .string(other.json.text)
      let text = JSONValue.object(members.filter { $0.key != "metadata" } + [.init("metadata", metadata)]).text
      let expected = row.state == .filtered ? String(sha256) : nil
      #expect(ReportRow.sourceSHA256(ofFiltered: text) == expected, "\(text)")
      #expect(ReportRow.isReused(text) == row.isReused && ReportRow.isCoalesced(text) == row.isCoalesced, "\(text)")
      #expect(ReportRow.url(text).map { "\"\($0)\"" } == JSONValue.string(row.url).text, "\(text)")
      if row.state == .filtered {
        #expect(ReportRow.isSourceChanged(text) == row.source?.isChanged, "\(text)")
      }
      // Names have quotes and backslashes replaced.
      if let file = row.output.map({ JSONValue.string($0.file).text }), !file.contains("\\") {
        #expect(ReportRow.outputFile(text).map { "\"\($0)\"" } == file, "\(text)")
      }
    }
  }

  @Test func `a result that could not be delivered leaves a failed row without an output`() {
    let row = ReportRow.sample(state: .filtered, output: .sample(), source: .sample()).failed(.conflict("taken"))
    #expect(row.state == .failed && row.output == nil && row.source != nil)
    #expect(row.failure?.code == "name-conflict" && row.failure?.stage == "outbox")
  }
}

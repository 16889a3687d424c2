import Foundation
import TestSupport
import Testing

/// However the entries of a run stand when it is replaced, cancelled or has a replacement rejected: it ends, and the last report
/// has a row for every entry that is wanted.
@Suite(.blocking) struct EndingRunTests {
  private let folders: DarkroomFolders
  private let server: EntryStatesServer

  init() throws {
    folders = try DarkroomFolders()
    server = try EntryStatesServer()
  }

  /// What is done about the job.
  enum Change: String, CaseIterable {
    case keepAll, keepSome, keepNone, changeRecipe, replaceTwice, cancel, remove, replaceAndCancel, reject

    /// Whether nothing is left to be done of the job.
    var isCancelled: Bool { [.cancel, .remove, .replaceAndCancel].contains(self) }

    /// Whether everything is wanted in the end: then there are no entries that would end only much later.
    var keepsAll: Bool { [.keepAll, .changeRecipe, .reject].contains(self) }

    /// How many runs are replaced; of two the second may not have begun.
    var replaced: ClosedRange<Int> {
      switch self {
      case .keepAll, .keepSome, .keepNone, .changeRecipe, .replaceAndCancel: 1...1
      case .replaceTwice: 1...2
      case .cancel, .remove, .reject: 0...0
      }
    }
  }

  /// An entry of the manifest; `state` is what becomes of it when it is wanted.
  private struct Line {
    let name: String
    let kind: String
    var after: [String] = []
    var variants = 0
    var isLast = false
    var state = "filtered"
    /// Whether it has begun by the time of the change, and does not end before that.
    var isGated: Bool { kind == "gate" || kind == "gone" }
    /// Whether its host lets it wait for a long time.
    var isEndless: Bool { kind == "held" || kind == "never" }
  }

  private static let lines = [
    Line(name: "done", kind: "ok"),
    Line(name: "missing", kind: "missing", state: "failed"),
    Line(name: "retried", kind: "once"),
    Line(name: "running", kind: "gate"),
    Line(name: "failing", kind: "gone", state: "failed"),
    Line(name: "variants", kind: "gate", variants: 3),
    Line(name: "failing-variants", kind: "gone", variants: 3, state: "failed"),
    Line(name: "after-done", kind: "ok", after: ["done"]),
    Line(name: "after-missing", kind: "ok", after: ["missing"], state: "failed"),
    Line(name: "after-running", kind: "ok", after: ["running"], variants: 2),
    Line(name: "after-failing", kind: "ok", after: ["failing"], variants: 2, state: "failed"),
    Line(name: "after-variants", kind: "ok", after: ["variants", "after-running"]),
    Line(name: "after-failing-variants", kind: "ok", after: ["failing-variants"], state: "failed"),
    Line(name: "last", kind: "ok", isLast: true),
    Line(name: "last-variants", kind: "ok", variants: 2, isLast: true),
  ]

  /// Entries that do not end for a long time: their hosts hold them, or they are deferred.
  private static let endless = [
    Line(name: "held", kind: "held"), Line(name: "held-too", kind: "held"), Line(name: "deferred", kind: "never"),
    Line(name: "after-held", kind: "ok", after: ["held"], variants: 2),
  ]

  private static let some = lines.filter {
    ["running", "variants", "failing-variants", "after-running", "after-variants", "last"].contains($0.name)
  }
  private static let new = Line(name: "new", kind: "ok", variants: 2)

  private func text(_ lines: [Line], filters: String = "none") throws -> String {
    try lines.map { line in
      var fields: [String: Any] = [
        "name": line.name, "filters": filters, "after": line.after,
        // What a host refuses is no concern of the others.
        "url": server.url("\(line.kind)/\(line.name)", host: line.isEndless ? "localhost" : "127.0.0.1"),
      ]
      if line.variants > 0 { fields["variants"] = (0..<line.variants).map { ["name": "v\($0)"] } }
      if line.isLast { fields["priority"] = "veryLow" }
      return String(decoding: try JSONSerialization.data(withJSONObject: fields), as: UTF8.self) + "\n"
    }.joined()
  }

  /// The names and states of the rows of a manifest.
  private func rows(_ lines: [Line]) -> [String] {
    lines.flatMap { line in Array(repeating: "\(line.name) \(line.state)", count: max(1, line.variants)) }
  }

  private func rows(_ report: Report) -> [String] { report.entries.map { "\($0.name) \($0.state)" } }

  /// How many downloads run.
  private func downloads() throws -> Int {
    let status = try folders.ask("status", ["--json"]).output
    let queues =
      try #require(
        JSONSerialization.jsonObject(with: Data(status.utf8)) as? [String: Any])["queues"] as? [String: Any]
    return try #require((queues?["download"] as? [String: Any])?["running"] as? Int)
  }

  @Test(arguments: Change.allCases, [false, true])
  func `a run ends`(change: Change, isPaused: Bool) throws {
    let old = change.keepsAll ? Self.lines : Self.endless + Self.lines
    try folders.drop("job.jsonl", text(old))
    let options = ["--downloads", "4", "--retries", "1", "--cache-size", "0", "--verbose"]
    let watch = try folders.start("watch", options + (change.keepsAll ? [] : ["--retry-for", "600"]))
    // A run that never ends fails the test.
    let timer = DispatchWorkItem { [weak watch] in watch?.send(SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + 240, execute: timer)
    defer { timer.cancel() }
    for _ in 0..<Self.lines.count(where: \.isGated) { _ = try server.nextRequest() }
    #expect(try watch.waitForLine(containing: "job: done: filtered") != nil)
    let lock = folders.inbox + "/x.lock"
    if isPaused {
      try Data().write(to: URL(fileURLWithPath: lock))
      #expect(try watch.waitForLine(containing: "paused: x.lock") != nil)
      try server.open()
      // What was downloaded, or failed to be, waits for its filtration.
      while try downloads() > 0 { usleep(20_000) }
    }
    let wanted = try make(change, watch, old: old)
    if !isPaused {
      try server.open()
    } else if !change.isCancelled {
      try FileManager.default.removeItem(atPath: lock)
    }
    let state = change.isCancelled ? "cancelled" : change == .keepNone ? "succeeded" : "partial"
    #expect(try watch.waitForLine(containing: "job: \(state): ") != nil)
    try watch.stop()

    let report = try folders.validReport("job")
    #expect(report.state == state)
    if change.isCancelled {
      #expect(report.entries.map(\.name) == wanted.flatMap { Array(repeating: $0.name, count: max(1, $0.variants)) })
      // A run that has begun in the meantime has made nothing.
      #expect(change == .replaceAndCancel || report.entries.contains { $0.name == "done" && $0.state == "filtered" })
      let later = report.entries.filter { $0.name.hasPrefix("last") || $0.name == "after-running" }
      #expect(later.allSatisfy { $0.state == "cancelled" })
    } else {
      #expect(rows(report) == rows(wanted))
    }
    let earlier = try folders.history("job")
    #expect(change.replaced.contains(earlier.count { $0.state == "superseded" }))
    #expect(earlier.count { $0.state == "rejected" } == (change == .reject ? 1 : 0))
    for old in earlier {
      let ended = old.entries.count { ["filtered", "failed"].contains($0.state) }
      #expect(old.entries.count == ended && old.counts.cancelled == old.counts.total - ended)
    }
    #expect(try folders.inboxNames().filter { $0 != "x.lock" }.isEmpty)
    try folders.checkOutbox()
  }

  /// - Returns: What is wanted from then on.
  private func make(_ change: Change, _ watch: DarkroomProcess, old: [Line]) throws -> [Line] {
    func replace(by lines: [Line], filters: String = "none") throws -> [Line] {
      try folders.drop("job.jsonl", text(lines, filters: filters))
      #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
      return lines
    }
    func cancel() throws {
      #expect(try folders.ask("cancel", ["job"]).status == 0)
      #expect(try watch.waitForLine(containing: "job: cancelled, as requested") != nil)
    }
    switch change {
    case .keepAll: return try replace(by: [Self.new] + old.reversed())
    case .keepSome: return try replace(by: Self.some + [Self.new])
    case .keepNone: return try replace(by: [Self.new])
    case .changeRecipe: return try replace(by: old, filters: "sepia(0.1)")
    case .replaceTwice:
      _ = try replace(by: old.reversed())
      try folders.drop("job.jsonl", text([Self.new] + Self.some))
      #expect(try watch.waitForLine(containing: "job: planning") != nil)
      return [Self.new] + Self.some
    case .cancel:
      try cancel()
      return old
    case .remove:
      try FileManager.default.removeItem(atPath: folders.inbox + "/job.jsonl")
      #expect(try watch.waitForLine(containing: "its manifest was removed") != nil)
      return old
    case .replaceAndCancel:
      let new = try replace(by: [Self.new] + old)
      try cancel()
      return new
    case .reject:
      try folders.drop("job.jsonl", "{\"name\": 7}\n")
      #expect(try watch.waitForLine(containing: "job: rejected") != nil)
      return old
    }
  }
}

import Foundation
import TestSupport
import Testing

/// What the next step of a delivery relies on is on disk before that step, so that no loss of power can undo it.
@Suite(.blocking) struct DurabilityTests {
  /// Calls of one name that are made in any order, each by the end of the path of what it is about, or more of its line.
  private struct Step {
    let name: String
    let subjects: [String]

    init(_ name: String, _ subjects: String...) { (self.name, self.subjects) = (name, subjects) }
  }

  /// The way of a manifest of one picture.
  private static let steps = [
    // Its snapshot, which the ledger names.
    Step("fsync", ".txt>"), Step("fsync", "/.darkroom/jobs>"), Step("fdatasync", "/ledger.sqlite>"),
    // The result, the intent, the final name and its end.
    Step("fsync", "-0.result>"), Step("fsync", "/STAGING>"), Step("fdatasync", "/ledger.sqlite>"),
    Step("renameat2", "/job/images>, \"coffee.jpg\""), Step("fsync", "/job/images>", "/job>"),
    Step("fdatasync", "/ledger.sqlite>"), Step("fsync", "/job/entries.jsonl>"),
    // The report likewise, before the manifest is taken away.
    Step("fsync", "-report.json>", "-manifest>"), Step("fsync", "/STAGING>"), Step("fdatasync", "/ledger.sqlite>"),
    Step("renameat2", "/job>, \"report.json\""), Step("fsync", "/job>"),
    Step("renameat2", "/.darkroom-done>, \"job.txt\""), Step("fdatasync", "/ledger.sqlite>"),
  ]

  @Test func `each step of a delivery is on disk before the next`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\n")
    let log = folders.folder.file("calls")
    let words = (["run", "--filters", "sepia()"] + folders.options).map { "'\($0)'" }.joined(separator: " ")
    let run = try DarkroomProcess.run(
      script: "strace -f -y -qq -s 400 -o '\(log)' -e trace=fsync,fdatasync,renameat2 darkroom \(words)",
      in: folders.folder)
    #expect(run.status == 0, "\(run.error)")
    let staging = try #require(
      FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/.darkroom/staging").first)
    let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
    var next = calls.startIndex
    for (number, step) in Self.steps.enumerated() {
      let places = step.subjects.map { subject in
        let subject = subject.replacingOccurrences(of: "STAGING", with: staging)
        return calls[next...].firstIndex { $0.contains(" \(step.name)(") && $0.contains(subject) }
      }
      guard let last = places.max(by: { $0 ?? .max < $1 ?? .max }) ?? nil else {
        Issue.record("step \(number), \(step), is missing after line \(next) of:\n\(calls.joined(separator: "\n"))")
        return
      }
      next = last + 1
    }
  }
}

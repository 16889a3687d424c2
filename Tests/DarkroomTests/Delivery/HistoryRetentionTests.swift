import Glibc
import System
import Testing
import TestSupport

@testable import Delivery
@testable import Model

@Suite struct HistoryRetentionTests {
  private let outbox: Outbox

  init() throws {
    outbox = try Outbox()
    for number in 1...6 { try leaveRun(number) }
  }

  private static func name(_ number: Int) -> String { "2024010\(number)T030405Z-0a1b2c3\(number)" }

  private func leaveRun(_ number: Int, job: String = "job", head: String = "") throws {
    let folder = "history/" + Self.name(number)
    try outbox.root.makeFolder("out/job/" + folder)
    try outbox.write(
      """
      {
      "schema_version":1,
      "job":"\(job)",
      "run_id":"\(Self.name(number))",\(head)
      "entries":[
      ]}

      """, to: folder + "/report.json")
    for name in ["manifest.csv.gz", "entries.jsonl", "job.failed.jsonl"] {
      try outbox.write("x", to: folder + "/" + name)
    }
  }

  /// - Parameter age: When what is in `history` was put there, in seconds before now.
  private func prune(_ count: Int, age: Int = 61, keepsLastGood: Bool = false) throws {
    let time = timespec(tv_sec: Int(Clock.wallSeconds) - age, tv_nsec: 0)
    for name in try left {
      utimensat(AT_FDCWD, outbox.folder.history + "/" + name, [time, time], AT_SYMLINK_NOFOLLOW)
    }
    try History(folder: outbox.folder).prune(keeping: count, keepsLastGood: keepsLastGood)
  }

  private var left: [String] { get throws { try outbox.root.names(in: "out/job/history") } }

  @Test(
    "while the newest manifest is rejected the run before stays, whose pictures the page shows", arguments: [0, 1, 5])
  func lastGood(count: Int) throws {
    for number in 2...6 {
      let head = [#"{"schema_version":1"#, #""job":"job""#, #""run_id":"\#(Self.name(number))""#]
      let rest = [#""state":"\#(number == 2 ? "partial" : "rejected")""#, #""entries":["#].joined(separator: ",\n")
      try outbox.write(
        head.joined(separator: ",\n") + ",\n" + rest + "\n]}\n", to: "history/" + Self.name(number) + "/report.json")
    }
    try prune(count, keepsLastGood: true)
    #expect(try left == Set([2] + (1...6).suffix(count)).sorted().map(Self.name))
  }

  @Test("of the earlier runs the last are kept, whole, and nothing else is removed", arguments: [0, 1, 5, 6, 1000])
  func last(count: Int) throws {
    for name in ["images/a.jpg", "report.json", "entries.jsonl", "history/notes.txt"] {
      try outbox.write("x", to: name)
    }
    try prune(count)
    #expect(try left == (1...6).suffix(count).map(Self.name) + ["notes.txt"])
    for number in (1...6).suffix(count) {
      #expect(
        try outbox.root.names(in: "out/job/history/" + Self.name(number)) == [
          "entries.jsonl", "job.failed.jsonl", "manifest.csv.gz", "report.json",
        ])
    }
    for name in ["images/a.jpg", "report.json", "entries.jsonl", "history/notes.txt"] {
      #expect(outbox.text(name) == "x", "\(name)")
    }
  }

  @Test("what was put aside within the last minute stays, so that whoever waits can read it")
  func young() throws {
    try prune(0, age: 50)
    #expect(try left == (1...6).map(Self.name))
    try prune(0, age: 70)
    #expect(try left.isEmpty)
  }

  static let otherKinds = [
    "another name", "link", "file", "more", "link inside", "folder inside", "another job's", "no report of ours",
    "another user's",
  ]

  @Test("a folder that is not a run's, by its name or by what is in it, stays", arguments: otherKinds)
  func foreign(kind: String) throws {
    let path = outbox.folder.history + "/" + Self.name(1)
    switch kind {
    case "another name": try Folder.rename(path, to: outbox.folder.history + "/20240101")
    case "link":
      try Folder.rename(path, to: outbox.root.file("elsewhere"))
      symlink(outbox.root.file("elsewhere"), path)
    case "file":
      try Folder.rename(path, to: outbox.root.file("elsewhere"))
      try outbox.write("x", to: "history/" + Self.name(1))
    case "more": try outbox.write("x", to: "history/\(Self.name(1))/notes.txt")
    case "link inside":
      try outbox.root.write("x", as: "precious")
      try Folder.removeFile(path + "/entries.jsonl")
      symlink(outbox.root.file("precious"), path + "/entries.jsonl")
    case "folder inside":
      try Folder.removeFile(path + "/entries.jsonl")
      mkdir(path + "/entries.jsonl", 0o777)
    case "another job's": try leaveRun(1, job: "other")
    case "no report of ours": try outbox.write("my notes", to: "history/\(Self.name(1))/report.json")
    default:
      // Without the right to give it away it stays ours.
      if chown(path, 12345, 12345) != 0 { return }
    }
    let before = try outbox.root.names(
      in: "out/job/history/" + (kind == "another name" ? "20240101" : kind == "file" ? "" : Self.name(1)))
    try prune(2)
    let stays = kind == "another name" ? "20240101" : Self.name(1)
    #expect(try left == ([stays] + [5, 6].map(Self.name)).sorted())
    if kind != "file" { #expect(try outbox.root.names(in: "out/job/history/" + stays) == before) }
    if kind == "link inside" { #expect(outbox.root.text("precious") == "x") }
  }

  @Test("a symbolic link in the place of history leads nowhere")
  func linkedHistory() throws {
    try Folder.rename(outbox.folder.history, to: outbox.root.file("elsewhere"))
    symlink(outbox.root.file("elsewhere"), outbox.folder.history)
    try prune(0)
    #expect(try outbox.root.names(in: "elsewhere").count == 6)
  }

  @Test(
    "interrupted anywhere it goes on",
    arguments: [["report.json"], ["report.json", "entries.jsonl", "manifest.csv.gz"]])
  func interrupted(removed: [String]) throws {
    for name in removed { try Folder.removeFile(outbox.folder.history + "/\(Self.name(1))/\(name)") }
    for name in try outbox.root.names(in: "out/job/history/" + Self.name(2)) {
      try Folder.removeFile(outbox.folder.history + "/\(Self.name(2))/\(name)")
    }
    try prune(3)
    #expect(try left == [4, 5, 6].map(Self.name))
  }

  @Test("a job without history has none then")
  func none() throws {
    try History(folder: JobFolder(path: outbox.root.file("out/other"), name: "other")).prune(keeping: 0)
    #expect(try outbox.root.names(in: "out") == ["job"])
  }

  @Test func `a run stays beside whose files somebody else has put another manifest`() throws {
    for number in 1...2 { try outbox.write("theirs", to: "history/\(Self.name(number))/manifest.txt") }
    try prune(1)
    #expect(try left == [1, 2, 6].map(Self.name))
    #expect(outbox.text("history/\(Self.name(1))/manifest.txt") == "theirs")
  }
}

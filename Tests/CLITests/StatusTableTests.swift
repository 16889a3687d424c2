import Foundation
import TestSupport
import Testing

@testable import Darkroom
@testable import DarkroomCLI

/// The table of `status` on a terminal.
@Suite struct StatusTableTests {
  private static let status: Status = {
    var status = Status(version: "1", inbox: "/srv/in", outbox: "/srv/out")
    (status.running, status.process) = (true, 7)
    var cats = Status.Job(
      job: "cats", run_id: "1", state: "running", total: 400, filtered: 110, failed: 2, cancelled: 0)
    (cats.rate, cats.seconds_left, cats.deferred, cats.deferred_until) = (3.2, 90, 2, "2026-11-23T14:05:00.000Z")
    cats.held_hosts = [.init(host: "h.example", until: "2026-11-23T14:06:00.000Z")]
    status.jobs = [Status.Job(job: "later", run_id: "2", state: "waiting"), cats]
    status.jobs.append(Status.Job(job: "写真-日本語の仕事", run_id: "3", state: "planning"))
    (status.queued, status.queued_total) = (["dogs.txt"], 3)
    status.queued_open = ["dogs.txt"]
    status.finished = [
      .init(
        job: "old", state: "partial", finished_at: "2026-11-22T23:59:58.000Z", total: 9, filtered: 8, failed: 1,
        report: ""),
      .init(
        job: "new\u{1B}[31m", state: "succeeded", finished_at: "2026-11-23T14:00:00.000Z", total: 1, filtered: 1,
        report: ""),
    ]
    status.finished_total = 12
    status.pauses = [.init(cause: "lock", lock: "deploy.lock", reason: "backup", since: "2026-11-23T13:59:00.000Z")]
    (status.ignored, status.ignored_total) = ([.init(file: "notes.docx", why: "no manifest")], 1)
    return status
  }()

  private static func table(_ status: Status = status, width: Int) -> [StyledText] {
    let now = (try? Date("2026-11-23T14:01:00Z", strategy: .iso8601)) ?? .distantPast
    return StatusTable(status: status, width: width, now: now, timeZone: .gmt).lines
  }

  @Test func `live jobs come first, then what waits, then what has ended, in aligned columns`() {
    #expect(
      Self.table(width: 100).map(\.text) == [
        "/srv/in → /srv/out",
        "process 7 is running",
        "",
        "JOB                STATE         DONE  FAILED   RATE  LEFT",
        "cats               running    112/400       2  3.2/s  1:30  2 deferred until 14:05:00",
        "写真-日本語の仕事  planning",
        "later              waiting",
        "dogs.txt           queued                                   which some process has open for writing",
        "old                partial        8/9       1               ended 2026-11-22 23:59",
        "new\\x1b[31m        succeeded      1/1                       ended 14:00:00",
        "2 more queued",
        "10 more have ended, see --all",
        "",
        "paused: deploy.lock (backup) since 13:59:00",
        "h.example is on hold until 14:06:00",
        "ignored: notes.docx: no manifest",
      ])
  }

  @Test(arguments: 1...200)
  func `no line is wider than the width, and from 40 columns each job has its name, state and counts`(width: Int) {
    let lines = Self.table(width: width)
    #expect(lines.allSatisfy { $0.columns <= width })
    #expect(lines.allSatisfy { !$0.text.contains("\u{1B}") })
    guard width >= 40 else { return }
    #expect(lines.contains { $0.text.contains("cats") && $0.text.contains("running") && $0.text.contains("112/400") })
  }

  @Test func `without colour there are no sequences, with it failures stand out`() {
    let lines = Self.table(width: 80)
    #expect(lines.allSatisfy { !$0.rendered(hasColour: false).contains("\u{1B}") })
    #expect(lines.contains { $0.rendered(hasColour: true).contains("\u{1B}[31m2\u{1B}[0m") })
  }

  @Test func `an instance that is stopping is said to be`() {
    var status = Self.status
    status.stopping = true
    let line = "process 7 is stopping: what runs may finish, the rest is left for the next start"
    #expect(Self.table(status, width: 100)[1].text == line && status.lines[1] == line)
  }

  @Test func `nothing to do is said without a table`() {
    let idle = Status(version: "1", inbox: "in", outbox: "out")
    #expect(Self.table(idle, width: 80).map(\.text) == ["in → out", "no process is running", "", "nothing to do"])
  }
}

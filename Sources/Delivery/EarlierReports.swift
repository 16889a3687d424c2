import JobIndex
import JSON
import Model
import System

/// The reports of a job's earlier runs, in an outbox whose pictures a folder of shards replaces or reuses.
package struct EarlierReports {
  /// The run of the newest report; nil when there is none that is whole.
  package let newestRun: String?

  private let folder: JobFolder

  /// The files with rows, relative to the job's folder, the newest first.
  private let targets: [String]

  /// - Throws: `SystemError`.
  package init(of job: String, in outbox: OpenFolder) throws(SystemError) {
    folder = OutboxFolder(path: outbox.path, handle: outbox).job(job)
    var targets: [String] = []
    let history = try folder.status(of: "history")?.kind == .folder ? folder.open("history").names() : []
    for run in [""] + history.compactMap(\.text).filter(History.isRun).sorted(by: >).map({ "history/\($0)/" }) {
      // A report has all rows of a run that has ended, a log those of one that was killed, too.
      let names = [run + "entries.jsonl", run + "report.json"]
      for name in names where try folder.status(of: name)?.kind == .file {
        targets.append(name)
        break
      }
    }
    self.targets = targets
    let hasReport = try folder.status(of: "report.json")?.kind == .file
    newestRun = hasReport ? try ReportHead(of: folder.open(file: "report.json"))?.runID : nil
  }

  package var isEmpty: Bool { targets.isEmpty }

  /// Calls `body` with the newest row of each result that has a file, older reports only where newer ones have none: an entry that
  /// failed last night may still have its picture of the night before.
  /// - Parameter index: The entries of the manifest, with `prepareNames`. Rows of others are left out.
  /// - Throws: `SystemError`, `SQLiteError`, errors of `body`.
  package func eachResult(of index: JobIndex, _ body: (_ position: Int, _ row: ReportRow) throws -> Void) throws {
    var isFound = [Bool](repeating: false, count: try index.count())
    var left = isFound.count
    for target in targets where left > 0 {
      try ReportRow.eachLine(of: folder.open(file: target)) { text in
        guard let name = ReportRow.resultName(ofRow: text), let position = try index.position(named: name),
          !isFound[position], let row = try? ReportRow(parsing: text), row.output != nil
        else { return }
        isFound[position] = true
        left -= 1
        try body(position, row)
      }
    }
  }
}

/// The file `.earlier` of a shard: the rows of earlier reports that concern it. `shard split` writes it, so that not every shard has
/// to read all of them. Its first line has the run of the newest report: it counts while that is the newest one still.
package enum EarlierRowsFile {
  package static let name = ".earlier"

  package static func head(run: String) -> String { JSONValue.object(["run": .string(run)]).text }

  /// Whether the rows are those of an outbox's reports.
  static func isCurrent(_ file: OpenFile, _ reports: EarlierReports) throws(SystemError) -> Bool {
    guard let run = reports.newestRun else { return false }
    let start = Array(head(run: run).utf8) + [0x0a]
    return try file.readStart(start.count) == start
  }
}

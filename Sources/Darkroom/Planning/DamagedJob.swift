import Ledger

/// An accepted job that nobody can work on: its record, its snapshot or its format cannot be read.
struct DamagedJob: Error, CustomStringConvertible {
  let job: LedgerJob
  let why: String

  /// Where what is left of it lies; nil while it is where it was.
  var folder: String?

  var description: String {
    "job \(job.name), run \(job.runID), cannot be read and is "
      + (folder.map { "set aside in \($0)" } ?? "left for the next start") + ": \(why)"
  }
}

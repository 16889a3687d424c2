import Ledger

/// An accepted job that nobody can work on: its record, its snapshot or its format cannot be read.
package struct DamagedJob: Error, CustomStringConvertible {
  package let job: LedgerJob
  package let why: String

  /// Where what is left of it lies; nil while it is where it was.
  package var folder: String?

  package init(job: LedgerJob, why: String, folder: String? = nil) {
    self.job = job
    self.why = why
    self.folder = folder
  }

  package var description: String {
    "job \(job.name), run \(job.runID), cannot be read and is "
      + (folder.map { "set aside in \($0)" } ?? "left for the next start") + ": \(why)"
  }
}

import Ledger

/// An accepted job that cannot be processed, because its record, snapshot or format cannot be read.
package struct DamagedJob: Error, CustomStringConvertible {
  package let job: LedgerJob
  package let why: String

  /// The folder to which its files were moved; nil when they were not moved.
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

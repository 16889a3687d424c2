import Foundation
import Model
import Synchronization

/// Names the runs that are accepted: behind the earlier runs of their jobs, also after the clock was set back. Only then are those looked
/// up.
final class RunNames: Sendable {
  /// The name that sorts last, of the runs of all jobs.
  private let newest: Mutex<String>

  /// - Parameter newest: The name of the run that sorts last in the ledger; nil when there is none.
  init(newest: String?) { self.newest = Mutex(newest ?? "") }

  /// Makes the name of the next run of a job.
  /// - Parameter earlier: Looks up the names of the job's earlier runs. Names of another form do not count.
  func make(at date: Date = Date(), after earlier: () throws -> [String]) rethrows -> String {
    let name = RunID.make(at: date)
    let isNewest = newest.withLock { newest in
      defer { newest = max(newest, name) }
      return name > newest
    }
    if isNewest { return name }
    let later = RunID.make(at: date, after: try earlier())
    newest.withLock { $0 = max($0, later) }
    return later
  }
}

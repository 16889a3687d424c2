import Foundation
import Model
import Synchronization

/// Creates the IDs of accepted runs, which sort after the earlier runs of their jobs, also after the clock was set back. Only then
/// are earlier runs looked up.
final class RunNames: Sendable {
  private let findNewest: @Sendable () throws -> String?

  /// The name that sorts last, of the runs of all jobs; nil before it was looked up.
  private let newest = Mutex<String?>(nil)

  /// - Parameter findNewest: Looks up the name that sorts last in the ledger; nil when there is none. Called with the first name, not at
  ///   the start: damage that it finds is then repaired as damage that a job finds.
  init(findNewest: @escaping @Sendable () throws -> String?) { self.findNewest = findNewest }

  /// Makes the name of the next run of a job.
  /// - Parameter earlier: Looks up the names of the job's earlier runs. Names of another form do not count.
  func make(at date: Date = Date(), after earlier: () throws -> [String]) throws -> String {
    let name = RunID.make(at: date)
    let isNewest = try newest.withLock { newest in
      let last = try newest ?? findNewest() ?? ""
      newest = max(last, name)
      return name > last
    }
    if isNewest { return name }
    let later = RunID.make(at: date, after: try earlier())
    newest.withLock { $0 = max($0 ?? "", later) }
    return later
  }
}

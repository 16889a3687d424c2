import Synchronization
import System

/// The folders of results, held open for a moment, so that to look at one of many files is one call.
///
/// No symbolic link is followed. A folder counts as the one under its path for a moment after it was opened, as if all files
/// had been looked at just then.
package final class ResultFolders: Sendable {
  /// So many are held at most.
  static let limit = 8

  private struct Held {
    let job: String
    let subfolder: String
    let folder: OpenFolder
    let end: Int
  }

  private let held = Mutex<[Held]>([])
  private let period: Int

  /// - Parameter period: How long a folder counts as the one under its path, in milliseconds.
  package init(period: Int = 100) { self.period = period }

  /// What a path relative to a job's folder stands for, a symbolic link for itself; nil when there is nothing.
  /// - Throws: `SystemError`, also when something else has the name of a folder on the way.
  package func status(of target: String, in job: JobFolder) throws(SystemError) -> FileStatus? {
    guard let slash = target.utf8.lastIndex(of: UInt8(ascii: "/")) else { return try job.open().status(of: target) }
    let now = Clock.monotonicMilliseconds
    do throws(SystemError) {
      let folder = try folder(target[..<slash], in: job, now: now)
      return try folder.status(of: String(target[target.utf8.index(after: slash)...]))
    } catch  where error.cause == .missing {
      return nil
    }
  }

  private func folder(_ subfolder: Substring, in job: JobFolder, now: Int) throws(SystemError) -> OpenFolder {
    let known = held.withLock { held in
      held.first { now < $0.end && subfolder == $0.subfolder && $0.job == job.path }?.folder
    }
    if let known { return known }
    let subfolder = String(subfolder)
    let folder = try job.open(subfolder)
    let opened = Held(job: job.path, subfolder: subfolder, folder: folder, end: now + period)
    let before = held.withLock { held in
      let before = held
      held.removeAll { $0.end <= now || $0.subfolder == subfolder && $0.job == job.path }
      held = [opened] + held.prefix(Self.limit - 1)
      return before
    }
    // Those that are left out are closed here, not while the lock is held.
    withExtendedLifetime(before) {}
    return folder
  }
}

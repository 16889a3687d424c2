import Synchronization
import System

/// Caches open folders of results for a moment, so that examining one of many files takes a single system call.
///
/// Symbolic links are not followed. When a folder is replaced, the cache uses the old one until its period ends.
package final class ResultFolders: Sendable {
  /// The most folders that are held open.
  static let limit = 8

  private struct Held {
    let job: String
    let subfolder: String
    let folder: OpenFolder
    let end: Int
  }

  private let held = Mutex<[Held]>([])
  private let period: Int

  /// - Parameter period: How long an open folder is used, in milliseconds.
  package init(period: Int = 100) { self.period = period }

  /// The status of a path relative to a job's folder, symbolic links not followed; nil when it does not exist.
  /// - Throws: `SystemError`, also when a component of the path is not a folder.
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
      held.first { now < $0.end && subfolder == $0.subfolder && $0.job.isIdentical(to: job.path) }?.folder
    }
    if let known { return known }
    let subfolder = String(subfolder)
    let folder = try job.open(subfolder)
    let opened = Held(job: job.path, subfolder: subfolder, folder: folder, end: now + period)
    let before = held.withLock { held in
      let before = held
      held.removeAll { $0.end <= now || $0.subfolder == subfolder && $0.job.isIdentical(to: job.path) }
      held = [opened] + held.prefix(Self.limit - 1)
      return before
    }
    // Evicted folders are closed here, after the lock is released.
    withExtendedLifetime(before) {}
    return folder
  }
}

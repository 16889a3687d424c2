import Glibc
import Imaging
import Model
import Synchronization
import System

/// Where a filtration may find its source, or what it would make of it.
struct ResultAccess: Sendable {
  /// Where the source may be; nil when there is no cache.
  let cache: DownloadCache?

  /// What earlier runs of the job delivered for the entry.
  let earlier: EarlierResults

  /// The other filtrations.
  let shared: SharedFiltrations

  /// A file that another entry's filtration has made, or found.
  struct Original {
    let file: OpenFile
    let picture: ImageInfo
    let bytes: Int
    let sha256: String

    /// Copies it to an empty file. It may have been delivered, and anything may have happened to it since.
    /// - Returns: Whether the copy is what it should be.
    /// - Throws: `SystemError` when there is no room for it, and when it is cancelled.
    func isCopied(to copy: OpenFile, isCancelled: () -> Bool = { false }) throws -> Bool {
      guard let status = try? file.status(), status.kind == .file, status.size == bytes else { return false }
      do {
        try file.copy(to: copy, isCancelled: isCancelled)
      } catch {
        if error.cause.isOfMachine || error.code == ECANCELED { throw error }
        return false
      }
      return (try? MessageDigest.hexDigest(ofDescriptor: copy.descriptor)) == sha256
    }
  }
}

extension ResultAccess.Original {
  /// The result of a filtration that has ended; nil when it has none.
  init?(_ record: PhotoRecord) {
    let live = record.snapshot
    if let made = live.artifacts[.result], let file = made.file, let picture = live.result?.picture {
      self.init(file: file, picture: picture, bytes: made.delivery.bytes, sha256: made.delivery.sha256)
    } else if let reused = live.reused,
      let file = try? record.run.folder.open(file: reused.target)
    {
      self.init(file: file, picture: reused.picture, bytes: reused.bytes, sha256: reused.sha256)
    } else {
      return nil
    }
  }
}

/// Which filtrations are about to make which result: the first leads, the others begin after it and copy what it has made.
final class SharedFiltrations: Sendable {
  private let leaders = Mutex<[ResultKey: ImageFiltration]>([:])

  /// Makes a filtration begin after another that makes the same, if there is one. To be called when its source is known, and
  /// before its download has finished: until then it cannot begin.
  func join(_ filtration: ImageFiltration) {
    // A copy of the source is as cheap as one of the result.
    guard let key = filtration.key, !key.isCopy else { return }
    leaders.withLock { leaders in
      if let leader = leaders[key] {
        filtration.follow(leader)
      } else {
        leaders[key] = filtration
        filtration.lead(key)
      }
    }
  }

  /// A filtration has ended: whoever comes now does not begin after it.
  func end(_ key: ResultKey) { leaders.withLock { $0[key] = nil } }
}

/// What a filtration decodes with.
package struct DecodingAccess: Sendable {
  package let pool: DecodingPool

  /// Where it is written down what is inside a filtration; nil when it is not.
  package var journal: FiltrationJournal?

  package init(pool: DecodingPool, journal: FiltrationJournal? = nil) {
    self.pool = pool
    self.journal = journal
  }
}

import Glibc
import Imaging
import Model
import Synchronization
import System

/// Where a filtration looks for its source or an existing result.
struct ResultAccess: Sendable {
  /// The cache with the source; nil when there is none.
  let cache: DownloadCache?

  /// The results that earlier runs of the job delivered for the entry.
  let earlier: EarlierResults

  /// The other filtrations.
  let shared: SharedFiltrations

  /// A file that another entry's filtration has made or reused.
  struct Original {
    let file: OpenFile
    let picture: ImageInfo
    let bytes: Int
    let sha256: String

    /// Copies it to an empty file. After a delivery the file may have been changed.
    /// - Returns: Whether the copy has the right bytes.
    /// - Throws: `SystemError` when the machine fails or the copy is cancelled.
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

/// The filtrations in progress by result. The first one for a result makes it, the others begin after it and copy it.
final class SharedFiltrations: Sendable {
  /// Also whether damage is accepted, which may change while entries are in the queues.
  private struct Key: Hashable {
    let result: ResultKey
    let acceptsDamage: Bool

    init(_ result: ResultKey) { (self.result, acceptsDamage) = (result, result.acceptsDamage) }
  }

  private let leaders = Mutex<[Key: ImageFiltration]>([:])

  /// Makes a filtration begin after another one with the same result, if there is one. Must be called when its source
  /// is known and before its download has finished, after which it may begin.
  func join(_ filtration: ImageFiltration) {
    // Copying the source costs the same as copying the result.
    guard let key = filtration.key, !key.isCopy else { return }
    leaders.withLock { leaders in
      if let leader = leaders[Key(key)] {
        filtration.follow(leader)
      } else {
        leaders[Key(key)] = filtration
        filtration.lead(key)
      }
    }
  }

  /// Records that a filtration has ended. Later filtrations do not wait for it.
  func end(_ key: ResultKey) { leaders.withLock { $0[Key(key)] = nil } }
}

/// The decoders for filtrations.
package struct DecodingAccess: Sendable {
  package let pool: DecodingPool

  /// Records which entries are being filtered; nil for no records.
  package var journal: FiltrationJournal?

  package init(pool: DecodingPool, journal: FiltrationJournal? = nil) {
    self.pool = pool
    self.journal = journal
  }
}

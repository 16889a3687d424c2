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

import Foundation
import Ledger
import Manifests
import Model
import Planning
import System

/// Takes a manifest over: from then on it is not lost, whatever dies and when.
struct Acceptance {
  let state: StateFolder
  let configuration: Configuration

  /// Records a job, and returns when that is durable.
  let record: (LedgerJob, JobManifest) throws -> Void

  /// A manifest up to this size, in bytes, waits for space as everything else does.
  private static let noticeable = 1 << 20

  /// Copies the file to a private snapshot, because a writer may still hold it open, and records the job.
  /// - Parameter file: Its name; nil for the path's last component.
  /// - Parameter inbox: The inbox, if the file lies there: then a symbolic link is not followed, and the file is to be moved
  ///   away when the job is done.
  /// - Parameter expected: The file as it was when it was found settled; nil to take it as it is.
  /// - Returns: nil when the file changed or went away, also while it was being copied, or somebody has it open for
  ///   writing: it is not settled; or when it is no regular file (any more). Who writes to a file that is taken as it is does
  ///   not matter.
  /// - Throws: `SystemError`, `SQLiteError`, `SpaceNeeded`; `CancellationError` soon after `isCancelled` returns true. Nothing
  ///   is left behind then, so that a full disk does not get fuller.
  func accept(
    path: String, called file: String? = nil, in inbox: OpenFolder?, job name: String, format: String,
    as expected: FileIdentity? = nil, isCancelled: () -> Bool = { false }
  ) throws -> LedgerJob? {
    let runID = RunID.make()
    let file = file ?? Folder.name(of: path)
    guard let source = try openIfThere(path, in: inbox) else { return nil }
    let status = try source.status()
    guard status.kind == .file, status.identity == expected ?? status.identity else { return nil }
    let size = ManifestSize(format: format, isCompressed: ManifestFile.isCompressed(file))
    let unread = size.problem(size: status.size, hole: source.firstHole ?? status.size)
    let tooLarge =
      status.size < Self.noticeable || unread != nil
      ? unread : try state.room(for: status.size, of: file, minFree: configuration.minFree)
    let jobs = try state.openJobs()
    let snapshot = state.snapshotName(runID, extension: ManifestFileName(file)?.suffix ?? format)
    let copied = try jobs.create(file: snapshot, mode: 0o600)
    var isLeft = false
    defer { if !isLeft { try? jobs.remove(snapshot) } }
    var copying = Copying(source: source, identity: status.identity, file: file, size: size)
    if unread == nil {
      guard try copy(&copying, to: copied, isKept: tooLarge == nil, isCancelled) else { return nil }
    }
    // Who has opened it since it was found settled may not have written yet.
    if expected != nil, let inbox, !inbox.isOnNetwork, source.writers == .somebody { return nil }
    var manifest = JobManifest(
      file: file, format: format, sha256: copying.sha256, inboxPath: inbox == nil ? nil : path,
      identity: status.identity.text, accepted: Clock.wallMilliseconds, configuration: configuration)
    manifest.tooLarge = copying.problem ?? tooLarge
    (manifest.mode, manifest.group, manifest.owner) = (status.mode & 0o777, status.group, Int(status.owner))
    let job = LedgerJob(runID: runID, name: name, details: try manifest.text)
    do {
      try record(job, manifest)
    } catch {
      // A commit that failed may have been made; if it was not, the next start removes the file.
      isLeft = error.isOfLedger(state) && !error.isOutOfSpace && !error.isRefusal
      throw error
    }
    isLeft = true
    return job
  }

  /// A manifest that is being read.
  private struct Copying {
    let source: OpenFile
    let identity: FileIdentity

    /// What messages call it.
    let file: String
    var size: ManifestSize

    /// Why no more of it is read; nil when it was read to its end.
    var problem: String?

    /// The digest; empty when it was not read to its end.
    var sha256 = ""
  }

  /// After so many bytes it is checked that the file is there still and that there is room, 64 pieces of what is read at once.
  private static let checkedAtOnce = 16 << 20

  /// - Parameter isKept: Whether the copy is made, and not only an empty file.
  /// - Returns: Whether the file was the same at the end as at the beginning.
  private func copy(
    _ copying: inout Copying, to copy: OpenFile, isKept: Bool, _ isCancelled: () -> Bool
  ) throws -> Bool {
    let (source, identity) = (copying.source, copying.identity)
    let digest = MessageDigest()
    var (copied, checked) = (0, 0)
    do {
      // A file that grows faster than it is read would never end.
      try source.eachChunk(upTo: identity.size + 1) { chunk in
        if isCancelled() { throw CancellationError() }
        copying.problem = copying.size.take(chunk)
        if copying.problem != nil { throw EndOfReading() }
        digest.update(chunk)
        if isKept { try copy.write(chunk) }
        copied += chunk.count
        guard copied - checked >= Self.checkedAtOnce else { return }
        checked = copied
        // A file that is removed gets another ctime.
        guard try source.status().identity == identity else { throw EndOfReading() }
        if isKept, try Folder.freeSpace(state.path) < configuration.minFree {
          throw SpaceNeeded(bytes: identity.size, file: copying.file)
        }
      }
    } catch is EndOfReading {
      guard copying.problem != nil else { return false }
      try copy.truncate(to: 0)
    }
    guard try source.status().identity == identity else { return false }
    if copying.problem == nil {
      guard copied == identity.size else { return false }
      copying.sha256 = digest.hexDigest()
    }
    try copy.sync()
    return true
  }

  /// What follows in the file does not matter.
  private struct EndOfReading: Error {}

  private func openIfThere(_ path: String, in inbox: OpenFolder?) throws(SystemError) -> OpenFile? {
    do {
      if let inbox { return try inbox.open(reading: Folder.name(of: path)) }
      return try OpenFile(reading: path)
    } catch  where error.code == ENOENT || error.code == ELOOP || error.code == ENXIO {
      return nil
    }
  }
}

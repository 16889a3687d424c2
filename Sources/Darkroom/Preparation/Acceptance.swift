import Foundation
import Ledger
import Manifests
import Model
import Planning
import System

/// Accepts a manifest. When it has returned, the manifest is not lost, even after a crash.
struct Acceptance {
  let state: StateFolder
  let configuration: Configuration

  /// Makes the name of the next run of a job.
  var nameRun: (_ job: String) throws -> String = { _ in RunID.make() }

  /// Records a job durably.
  let record: (LedgerJob, JobManifest) throws -> Void

  /// The size in bytes above which the space for a manifest is checked in advance.
  private static let noticeable = 1 << 20

  /// Copies the file to a private snapshot, because a writer may still have it open, and records the job.
  /// - Parameters:
  ///   - file: The file's name. Default: nil, the path's last component.
  ///   - inbox: The inbox, if the file is in it. Symbolic links are then not followed, and the file is moved away when
  ///     the job is done.
  ///   - expected: The file's identity when it was settled; nil to accept it as it is, even if a process has it open
  ///     for writing.
  /// - Returns: nil when the file is not settled, because it was changed or removed, also during the copy, or a process
  ///   has it open for writing; or when it is not a regular file.
  /// - Throws: `SystemError`, `SQLiteError`, `SpaceNeeded`; `CancellationError` soon after `isCancelled` returns true.
  ///   The copy is then removed, since a full disk must not become fuller.
  func accept(
    path: String, called file: String? = nil, in inbox: OpenFolder?, job name: String, format: String,
    as expected: FileIdentity? = nil, isCancelled: () -> Bool = { false }
  ) throws -> LedgerJob? {
    let runID = try nameRun(name)
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
    // A process that has opened it since it was settled may not have written yet.
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
      // A failed commit may have been written. If it was not, the next start removes the file.
      isLeft = error.isOfLedger(state) && !error.isUndoneForWantOfSpace && !error.isRefusal
      throw error
    }
    isLeft = true
    return job
  }

  /// A manifest that is being read.
  private struct Copying {
    let source: OpenFile
    let identity: FileIdentity

    /// The name of the file in messages.
    let file: String
    var size: ManifestSize

    /// Why reading was ended early; nil when it was read completely.
    var problem: String?

    /// The digest; empty when it was not read completely.
    var sha256 = ""
  }

  /// The number of bytes after which the file's identity and the free space are checked: 64 chunks.
  private static let checkedAtOnce = 16 << 20

  /// - Parameter isKept: Whether the bytes are copied, and not only read.
  /// - Returns: Whether the file was unchanged at the end.
  private func copy(
    _ copying: inout Copying, to copy: OpenFile, isKept: Bool, _ isCancelled: () -> Bool
  ) throws -> Bool {
    let (source, identity) = (copying.source, copying.identity)
    let digest = MessageDigest()
    var (copied, checked) = (0, 0)
    do {
      // The limit ends the reading of a file that grows faster than it is read.
      try source.eachChunk(upTo: identity.size + 1) { chunk in
        if isCancelled() { throw CancellationError() }
        copying.problem = copying.size.take(chunk)
        if copying.problem != nil { throw EndOfReading() }
        digest.update(chunk)
        if isKept { try copy.write(chunk) }
        copied += chunk.count
        guard copied - checked >= Self.checkedAtOnce else { return }
        checked = copied
        // Removing a file changes its ctime.
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

  /// Ends reading, because the rest of the file is not needed.
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

import Foundation
import Ledger
import Manifests
import System

/// Takes a manifest over: from then on it is not lost, whatever dies and when.
struct Acceptance {
  let state: StateFolder
  let configuration: Configuration

  /// Records a job, and returns when that is durable.
  let record: (LedgerJob, JobManifest) throws -> Void

  /// Copies the file to a private snapshot, because a writer may still hold it open, and records the job.
  /// - Parameter file: Its name; nil for the path's last component.
  /// - Parameter inbox: The inbox, if the file lies there: then a symbolic link is not followed, and the file is to be moved
  ///   away when the job is done.
  /// - Parameter expected: The file as it was when it was found settled; nil to take it as it is.
  /// - Returns: nil when the file changed or went away, also while it was being copied: it is not settled; or when it is
  ///   no regular file (any more).
  /// - Throws: `SystemError`, `SQLiteError`. Nothing is left behind then, so that a full disk does not get fuller.
  func accept(
    path: String, called file: String? = nil, in inbox: OpenFolder?, job name: String, format: String,
    as expected: FileIdentity? = nil
  ) throws -> LedgerJob? {
    let runID = RunID.make()
    let file = file ?? Folder.name(of: path)
    let snapshot = state.snapshot(runID, extension: ManifestFileName(file)?.suffix ?? format)
    var isAccepted = false
    defer { if !isAccepted { try? Folder.removeFile(snapshot) } }
    guard let (sha256, identity) = try copy(path, in: inbox, to: snapshot),
      identity == expected ?? identity
    else { return nil }
    let manifest = JobManifest(
      file: file, format: format, sha256: sha256, inboxPath: inbox == nil ? nil : path, identity: identity.text,
      accepted: Clock.wallMilliseconds, configuration: configuration)
    let job = LedgerJob(runID: runID, name: name, details: try manifest.text)
    try record(job, manifest)
    isAccepted = true
    return job
  }

  /// - Returns: nil when the file went away, or was not the same at the end as at the beginning.
  private func copy(
    _ path: String, in inbox: OpenFolder?, to snapshot: String
  ) throws -> (sha256: String, identity: FileIdentity)? {
    guard let source = try openIfThere(path, in: inbox) else { return nil }
    let status = try source.status()
    guard status.kind == .file else { return nil }
    let identity = status.identity
    let copy = try OpenFile(creating: snapshot, mode: 0o600)
    let digest = MessageDigest()
    var copied = 0
    // A file that grows faster than it is read would never end.
    try source.eachChunk(upTo: identity.size + 1) { chunk in
      digest.update(chunk)
      try copy.write(chunk)
      copied += chunk.count
    }
    guard try source.status().identity == identity, copied == identity.size else { return nil }
    try copy.sync()
    return (digest.hexDigest(), identity)
  }

  private func openIfThere(_ path: String, in inbox: OpenFolder?) throws(SystemError) -> OpenFile? {
    do {
      if let inbox { return try inbox.open(reading: Folder.name(of: path)) }
      return try OpenFile(reading: path)
    } catch  where error.code == ENOENT || error.code == ELOOP || error.code == ENXIO {
      return nil
    }
  }
}

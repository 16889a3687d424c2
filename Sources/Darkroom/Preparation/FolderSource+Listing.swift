import Glibc
import JSON
import Model
import Planning
import System
import Transfer

extension FolderSource {
  /// Lists the files beneath the file root. The inbox, the outbox and the state folder are not looked through, so that results
  /// do not become sources.
  /// - Parameter waits: Whether files that are being written are waited for, and left out.
  /// - Returns: nil when the source is the path of a file that looks like a pattern.
  /// - Throws: `TransferError` when a folder cannot be listed; `SystemError`; `CancellationError` soon after `isCancelled`
  ///   returns true.
  func list(
    _ configuration: Configuration, waits: Bool = true, isCancelled: @escaping () -> Bool
  ) throws -> FolderListing.Result? {
    let folders = try trees.map { try open($0, configuration) }
    if trees.count == 1, !trees[0].isFolder, (try? folders[0].status(of: trees[0].name))?.kind == .file { return nil }
    let own = [configuration.inbox, configuration.outbox, configuration.state]
    let excluded = own.compactMap { try? OpenFolder($0).status().identity }
    return try FolderListing(source: self, settleTime: configuration.settle, excluding: excluded, waits: waits)
      .list(folders, isCancelled: isCancelled)
  }

  private func open(_ tree: Tree, _ configuration: Configuration) throws -> OpenFolder {
    switch Result(catching: { () throws(TransferError) in try open(tree, configuration.transfer) }) {
    case .success(let folder): return folder
    // The machine failed, which is not a property of the folder.
    case .failure(let error) where error.code == .io:
      throw SystemError("open", redacted, code: error.systemError ?? EIO)
    case .failure(let error): throw error
    }
  }
}

extension FolderListing.Result {
  /// Writes the listing durably, with one URL per line.
  /// - Returns: Its digest and size.
  func write(to file: OpenFile) throws(SystemError) -> (sha256: String, bytes: Int) {
    let digest = MessageDigest()
    var bytes = 0
    for start in stride(from: 0, to: urls.count, by: 1000) {
      let text = urls[start..<min(start + 1000, urls.count)].map { JSONValue.string($0).text + "\n" }.joined()
      try file.write(text)
      digest.update(text)
      bytes += text.utf8.count
    }
    try file.sync()
    return (digest.hexDigest(), bytes)
  }
}

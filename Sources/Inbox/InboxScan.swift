import System

/// The contents of the inbox at one moment.
package struct InboxScan: Sendable, Equatable {
  /// A file that is a manifest by its name and kind.
  package struct Manifest: Sendable, Equatable {
    package let file: String
    package let job: String
    package let identity: FileIdentity

    /// The file's name as bytes.
    package var key: FileName { FileName(file) }
  }

  /// A file that is neither a manifest nor a lock, and not skipped silently.
  package struct Ignored: Sendable, Hashable {
    package let file: FileName
    package let why: String

    /// The file's identity, by which changes are detected; empty when it cannot be examined.
    var identity = ""

    /// Whether it is a folder. Folders appear in the status and are not reported.
    package var isFolder = false
  }

  /// The manifests in the order of processing: the oldest first, then by name.
  package var manifests: [Manifest] = []
  package var locks: [Lock] = []
  package var ignored: [Ignored] = []

  /// The ignored files that would be manifests if they were readable.
  package var unreadable: [FileName] = []

  /// Manifests, by name, that the machine fails to examine now. They count as neither present nor removed.
  package var unexamined: [Ignored] = []

  /// Possible temporary files of killed commands.
  var leftovers: [FileName] = []

  /// The keys of the requests to cancel, see `CancelRequest`.
  package var cancelled: Set<String> = []

  /// Adds a file that is not a manifest.
  /// - Parameter why: The reason for a regular file.
  mutating func ignore(_ file: FileName, _ status: FileStatus, why: String) {
    let reason =
      switch status.kind {
      case .file: why
      case .link: "it is a symbolic link"
      case let kind: "it is a \(kind)"
      }
    ignored.append(
      Ignored(file: file, why: reason, identity: status.identity.text, isFolder: status.kind == .folder))
  }
}

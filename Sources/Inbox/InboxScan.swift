import System

/// What lies in the inbox at one moment.
package struct InboxScan: Sendable, Equatable {
  /// A file that is, by its name and kind, a manifest.
  package struct Manifest: Sendable, Equatable {
    package let file: String
    package let job: String
    package let identity: FileIdentity

    /// The file's name, byte by byte.
    package var key: FileName { FileName(file) }
  }

  /// Something that is neither a manifest nor a lock nor one of those passed over without a word.
  package struct Ignored: Sendable, Hashable {
    package let file: FileName
    package let why: String

    /// Tells whether it has changed; empty when it cannot be examined.
    var identity = ""

    /// A folder is shown, and nobody is told of it.
    package var isFolder = false
  }

  /// In the order in which they are to be processed: the oldest first, then by name.
  package var manifests: [Manifest] = []
  package var locks: [Lock] = []
  package var ignored: [Ignored] = []

  /// Of these, those that could be manifests if they were readable.
  package var unreadable: [FileName] = []

  /// Files that are manifests by their names, and that the machine does not let examine now: they are neither there nor gone.
  package var unexamined: [Ignored] = []

  /// What commands may have left that were killed.
  var leftovers: [FileName] = []

  /// What is to be cancelled, as `CancelRequest` names it.
  package var cancelled: Set<String> = []

  /// Adds something that is no manifest.
  /// - Parameter why: If it is a file.
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

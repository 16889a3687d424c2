import System

/// What lies in the inbox at one moment.
struct InboxScan: Sendable, Equatable {
  /// A file that is, by its name and kind, a manifest.
  struct Manifest: Sendable, Equatable {
    let file: String
    let job: String
    let identity: FileIdentity

    /// The file's name, byte by byte.
    var key: FileName { FileName(file) }
  }

  /// A file that is neither a manifest nor a lock nor one of those passed over without a word.
  struct Ignored: Sendable, Hashable {
    let file: FileName
    let why: String
  }

  /// In the order in which they are to be processed: the oldest first, then by name.
  var manifests: [Manifest] = []
  var locks: [Lock] = []
  var ignored: [Ignored] = []

  /// Files that are manifests by their names, and that the machine does not let examine now: they are neither there nor gone.
  var unexamined: [Ignored] = []

  /// What commands may have left that were killed.
  var leftovers: [FileName] = []
}

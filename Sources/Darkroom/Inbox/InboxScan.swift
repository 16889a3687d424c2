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

  /// What commands may have left that were killed.
  var leftovers: [FileName] = []
}

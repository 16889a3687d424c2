import Imaging

/// A result that an earlier run of the job delivered, and that still lies where it was put.
struct DeliveredResult: Sendable, Equatable {
  /// Path beneath the job's folder.
  let target: String
  let bytes: Int
  let sha256: String
  let picture: ImageInfo
  let sourcePicture: ImageInfo

  /// What identifies the file from now on; nil when that is what the ledger has.
  let newIdentity: String?

  /// From what it was made, if more is known of that now; nil when it is what the ledger has.
  var newOrigin: String?

  /// The quality with which it was encoded; nil when it is lossless or a copy, and when it is not known.
  var quality: Int?

  /// What was kept of the source's metadata; nil when it is not known.
  var metadata: MetadataPolicy?

  /// Paths of what was made of it, beneath the job's folder.
  var derived: [Artifact.Kind: String] = [:]
}

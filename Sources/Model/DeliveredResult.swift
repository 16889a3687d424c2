import Imaging

/// A result that an earlier run of the job delivered, and that still lies where it was put.
package struct DeliveredResult: Sendable, Equatable {
  /// Path beneath the job's folder.
  package let target: String
  package let bytes: Int
  package let sha256: String
  package let picture: ImageInfo
  package let sourcePicture: ImageInfo

  /// What identifies the file from now on; nil when that is what the ledger has.
  package let newIdentity: String?

  /// From what it was made, if more is known of that now; nil when it is what the ledger has.
  package var newOrigin: String?

  /// The quality with which it was encoded; nil when it is lossless or a copy, and when it is not known.
  package var quality: Int?

  /// What was kept of the source's metadata; nil when it is not known.
  package var metadata: MetadataPolicy?

  /// Paths of what was made of it, beneath the job's folder.
  package var derived: [Artifact.Kind: String] = [:]

  package init(
    target: String, bytes: Int, sha256: String, picture: ImageInfo, sourcePicture: ImageInfo, newIdentity: String?,
    newOrigin: String? = nil, quality: Int? = nil, metadata: MetadataPolicy? = nil,
    derived: [Artifact.Kind: String] = [:]
  ) {
    self.target = target
    self.bytes = bytes
    self.sha256 = sha256
    self.picture = picture
    self.sourcePicture = sourcePicture
    self.newIdentity = newIdentity
    self.newOrigin = newOrigin
    self.quality = quality
    self.metadata = metadata
    self.derived = derived
  }
}

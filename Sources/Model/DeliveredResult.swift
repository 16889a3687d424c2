import Imaging

/// A result that an earlier run of the job delivered, and that is still in the outbox.
package struct DeliveredResult: Sendable, Equatable {
  /// Path beneath the job's folder.
  package let target: String
  package let bytes: Int
  package let sha256: String
  package let picture: ImageInfo
  package let sourcePicture: ImageInfo

  /// The file's new identity for the ledger; nil when the ledger has it.
  package let newIdentity: String?

  /// The result's provenance for the ledger, when more is known of it now; nil when the ledger has it.
  package var newOrigin: String?

  /// The quality with which it was encoded; nil when it is lossless, a copy, or unknown.
  package var quality: Int?

  /// Which metadata of the source was kept; nil when unknown.
  package var metadata: MetadataPolicy?

  /// The settings of its `ResultKey`; nil when unknown.
  package var settings: String?

  /// Paths of the files made from it, relative to the job's folder.
  package var derived: [Artifact.Kind: String] = [:]

  package init(
    target: String, bytes: Int, sha256: String, picture: ImageInfo, sourcePicture: ImageInfo, newIdentity: String?,
    newOrigin: String? = nil, quality: Int? = nil, metadata: MetadataPolicy? = nil, settings: String? = nil,
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
    self.settings = settings
    self.derived = derived
  }
}

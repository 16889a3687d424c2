/// How much of EXIF, XMP and IPTC is kept. What says how colours are meant (profiles and PNG's chunks) and how densely
/// pixels lie always is; the orientation and thumbnails never are.
package enum MetadataPolicy: String, CaseIterable, Sendable {
  /// Nothing.
  case none
  /// Of EXIF, artist and copyright; of IPTC, by-line, credit and copyright notice; of XMP nothing.
  case copyright
  /// Everything.
  case all
}

import Imaging

/// The values of `--format` and of the field `format`.
package enum OutputFormatName: String, Sendable, CaseIterable {
  case keep, jpeg, png, webp

  /// nil for `keep`, the source's own format.
  package var format: ImageFormat? {
    switch self {
    case .keep: nil
    case .jpeg: .jpeg
    case .png: .png
    case .webp: .webp
    }
  }
}

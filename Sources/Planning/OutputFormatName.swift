import Imaging

/// The values of `--format` and of the field `format`: `keep`, and the names of formats that can be written.
package struct OutputFormatName: RawRepresentable, Hashable, Sendable, CaseIterable {
  package let rawValue: String
  /// nil for `keep`, the source's own format.
  package let format: ImageFormat?

  /// The source's own format.
  package static let keep = OutputFormatName(name: "keep", format: nil)

  /// `keep` and all formats that can be written.
  package static let allCases =
    [keep]
    + ImageFormat.allCases.filter(\.isWritable).map { OutputFormatName(name: $0.rawValue, format: $0) }

  /// In any case; `jpg` is `jpeg`.
  package init?(rawValue: String) {
    let written = rawValue.lowercased()
    guard let name = Self.allCases.first(where: { $0.rawValue == (written == "jpg" ? "jpeg" : written) }) else {
      return nil
    }
    self = name
  }

  private init(name: String, format: ImageFormat?) {
    rawValue = name
    self.format = format
  }
}

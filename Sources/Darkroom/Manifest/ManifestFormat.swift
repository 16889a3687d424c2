/// A way to write a manifest down. To add one: add a file, and a line in `ManifestFormats.all`.
protocol ManifestFormat: Sendable {
  /// The name in reports.
  var name: String { get }

  /// The file-name extensions that mean this format, in lower case.
  var extensions: [String] { get }

  /// Reads a manifest from its beginning and hands on what it holds, in order.
  /// - Throws: `ManifestProblem` for what makes the whole manifest unreadable; what `yield` throws.
  func read(_ file: ManifestFile, _ yield: (ManifestItem) throws -> Void) throws
}

import Foundation

/// A Swift file of a module.
struct SourceFile: Sendable {
  /// Relative to the module's folder.
  let path: String
  let outline: SwiftOutline

  init(path: String, source: String) {
    self.path = path
    outline = SwiftOutline(source)
  }

  /// The folder of the module that the file is in, however deep; nil for a file directly in the module.
  var folder: String? {
    let parts = path.split(separator: "/")
    return parts.count > 1 ? String(parts[0]) : nil
  }

  /// The Swift files in a module's folder and below, by path.
  static func files(in folder: String) throws -> [SourceFile] {
    try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }.sorted().map {
      SourceFile(path: $0, source: try String(contentsOfFile: folder + "/" + $0, encoding: .utf8))
    }
  }
}

import Foundation
import Manifests
import System
import Transfer

/// Finds the format of a downloaded list: by its extension, else its content type, else its content.
package enum ListRecognition {
  /// - Parameters:
  ///   - url: The requested URL, as written.
  ///   - contentType: The content type from the server, with its parameters; nil when there is none.
  ///   - path: The path of the list.
  /// - Returns: The format, and whether the list is compressed with gzip, by its first bytes.
  /// - Throws: `SystemError`.
  package static func format(
    url: String, contentType: String?, path: String
  ) throws -> (format: any ManifestFormat, isCompressed: Bool) {
    let isCompressed = try OpenFile(reading: path).readStart(2) == [0x1f, 0x8b]
    if let format = format(ofURL: url) ?? contentType.flatMap(format(ofType:)) { return (format, isCompressed) }
    let suffix = try ManifestRecognition.suffix(of: path)
    let inner = isCompressed ? suffix.dropLast(".gz".count) : suffix[...]
    return (ManifestFormats.format(of: inner) ?? ManifestFormats.all[0], isCompressed)
  }

  /// The format named by the extension of a URL's path; nil for none.
  static func format(ofURL url: String) -> (any ManifestFormat)? {
    (try? SourceLocation(parsing: url)).flatMap { ManifestFileName($0.lastPathComponent)?.format }
  }

  /// The format named by a content type; nil for none, and for generic types.
  static func format(ofType type: String) -> (any ManifestFormat)? {
    let name = type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    let suffix = suffixes[name] ?? (name.hasSuffix("+json") ? "json" : nil)
    return suffix.flatMap { ManifestFormats.format(of: $0) }
  }

  /// The extensions of formats by media type, without the generic `text/plain` and `application/octet-stream`.
  private static let suffixes = [
    "application/json": "json", "text/json": "json",
    "application/jsonl": "jsonl", "application/x-jsonl": "jsonl", "application/jsonlines": "jsonl",
    "application/x-jsonlines": "jsonl", "application/ndjson": "jsonl", "application/x-ndjson": "jsonl",
    "application/json-lines": "jsonl",
    "application/x-plist": "plist", "application/x-apple-plist": "plist",
    "text/csv": "csv", "application/csv": "csv", "text/tab-separated-values": "tsv", "text/uri-list": "txt",
  ]
}

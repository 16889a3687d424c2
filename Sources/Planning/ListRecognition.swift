import Foundation
import Manifests
import System
import Transfer

/// Tells in which format a downloaded list is: by its extension, else its content type, else its content.
package enum ListRecognition {
  /// - Parameters:
  ///   - url: What was asked, as it was written.
  ///   - contentType: What the server says, with its parameters; nil when it says nothing.
  ///   - path: Where the list lies.
  /// - Returns: The format, and whether the list is packed with gzip, which its bytes tell.
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

  /// The format that the last component of a URL's path names; nil when it names none.
  static func format(ofURL url: String) -> (any ManifestFormat)? {
    (try? SourceLocation(parsing: url)).flatMap { ManifestFileName($0.lastPathComponent)?.format }
  }

  /// The format that a content type names; nil when it names none, or is what servers say of anything.
  static func format(ofType type: String) -> (any ManifestFormat)? {
    let name = type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    let suffix = suffixes[name] ?? (name.hasSuffix("+json") ? "json" : nil)
    return suffix.flatMap { ManifestFormats.format(of: $0) }
  }

  /// The media types of formats. What is only `text/plain` or `application/octet-stream` may be any of them.
  private static let suffixes = [
    "application/json": "json", "text/json": "json",
    "application/jsonl": "jsonl", "application/x-jsonl": "jsonl", "application/jsonlines": "jsonl",
    "application/x-jsonlines": "jsonl", "application/ndjson": "jsonl", "application/x-ndjson": "jsonl",
    "application/json-lines": "jsonl",
    "application/x-plist": "plist", "application/x-apple-plist": "plist",
    "text/csv": "csv", "application/csv": "csv", "text/tab-separated-values": "tsv", "text/uri-list": "txt",
  ]
}

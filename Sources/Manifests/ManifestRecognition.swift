import Foundation
import JSON

/// Recognises the format of a manifest without a name by its beginning.
package enum ManifestRecognition {
  /// The number of bytes that are examined: a line of the greatest length, and whether another follows.
  private static let limit = ManifestFile.lineLimit + 64 << 10

  /// The extension for a manifest's contents: `jsonl` for JSON lines and unrecognised contents, else `json`, `plist`, `csv`,
  /// `tsv` or `txt`; each with `.gz` when they are packed.
  /// - Throws: `SystemError`.
  package static func suffix(of path: String) throws -> String {
    let isCompressed = try beginning(of: ManifestFile(path: path, isCompressed: false)).starts(with: [0x1f, 0x8b])
    let start = try beginning(of: ManifestFile(path: path, isCompressed: isCompressed))
    return suffix(of: start) + (isCompressed ? ".gz" : "")
  }

  private struct Enough: Error {}

  private static func beginning(of file: ManifestFile) throws -> [UInt8] {
    var bytes: [UInt8] = []
    do {
      _ = try file.eachTextChunk(mayBeUTF16: true) { chunk in
        bytes += chunk.prefix(limit - bytes.count)
        if bytes.count >= limit { throw Enough() }
      }
    } catch is Enough {
    } catch is ManifestProblem {
      // The rejection reports the error.
    }
    return bytes
  }

  /// The same for the first bytes, unpacked.
  static func suffix(of start: [UInt8]) -> String {
    if start.starts(with: Array("bplist".utf8)) { return "plist" }
    // Long text is examined as bytes.
    let lines = start.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.lazy
      .filter { !$0.allSatisfy(" \t".utf8.contains) }
    let firsts = lines.map { String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespaces) }
    guard let first = firsts.first(where: { !$0.hasPrefix("#") }), !start.contains(0) else { return "jsonl" }
    switch first.first {
    case "<": return "plist"
    case "[": return "json"
    case "{": return isLine(first, ofSeveral: lines.dropFirst().first != nil) ? "jsonl" : "json"
    case "\"" where !isHeader(first): return "jsonl"
    case _ where isHeader(first): return first.contains("\t") ? "tsv" : "csv"
    default: return (try? JSONValue(parsing: first)) == nil ? "txt" : "jsonl"
    }
  }

  /// Whether an object is a line among others, or an entry: a single line may also be a dictionary of names.
  private static func isLine(_ text: String, ofSeveral: Bool) -> Bool {
    guard let value = try? JSONValue(parsing: text) else { return false }
    return ofSeveral || value["url"] != nil
  }

  /// Whether a line is the header of a table: it has the column `url`. `sep=` may precede it.
  static func isHeader(_ line: String) -> Bool {
    let line = line.lowercased()
    if line.hasPrefix("sep=") { return true }
    return line.split(whereSeparator: { ",;\t".contains($0) }).contains { field in
      field.trimmingCharacters(in: CharacterSet(charactersIn: " \"")) == "url"
    }
  }
}

import Imaging
import JSON

/// How a result was made, as the ledger stores it. Decides whether the result would be the same if made again, and
/// contains what its row needs.
package struct Provenance: Sendable, Equatable {
  /// The text of a `ResultKey`.
  package let key: String
  package let source: ImageInfo
  package let output: ImageInfo

  /// The quality with which it was encoded; nil when it is lossless or a copy, and in ledgers of earlier versions.
  package var quality: Int?

  /// Whether the file existed before with the same bytes, and was probably not created by this program. It is never
  /// removed. A file without provenance is of unknown origin.
  package var isAdopted = false

  /// A file that was made from a result.
  package struct DerivedFile: Sendable, Equatable {
    package let bytes: Int
    package let sha256: String

    package init(bytes: Int, sha256: String) { (self.bytes, self.sha256) = (bytes, sha256) }
  }

  /// The files that were made from the result and delivered with it.
  package var derived: [Artifact.Kind: DerivedFile] = [:]

  /// The text of the `SourceAnswer` that delivered the source, or confirmed it last; nil for files, and in ledgers of
  /// earlier versions.
  package var answer: String?

  /// The source's SHA-256.
  package var sourceSHA256: Substring { key.prefix { $0 != " " } }

  /// The text that the ledger stores: one line for each value, none of which contains line breaks, followed by the lines of the
  /// answer, if there is one. Each row with an earlier result is compared with it: JSON takes ten times as long to read.
  package var text: String {
    let files = Artifact.Kind.allCases.compactMap { kind in
      derived[kind].map { "\(kind.rawValue) \($0.bytes) \($0.sha256)" }
    }
    return """
      \(key)
      \(source.line)
      \(output.line)
      \(quality.map { String($0) } ?? "")
      \(isAdopted ? "adopted" : "")
      \(files.joined(separator: " "))\(answer.map { "\n" + $0 } ?? "")
      """
  }

  init(key: ResultKey, source: ImageInfo, output: ImageInfo) {
    (self.key, self.source, self.output) = (key.text, source, output)
  }

  /// The provenance of a row's result, without derived files.
  /// - Returns: nil for a row without a result, and for one of an earlier version.
  package init?(_ row: ReportRow) {
    guard let output = row.output, let settings = output.settings, let source = row.source, let picture = source.picture
    else { return nil }
    (key, self.source, self.output) = ("\(source.sha256) \(settings)", picture, output.picture)
    // Anybody who writes to the outbox may have made the row.
    guard !key.utf8.contains(UInt8(ascii: "\n")) else { return nil }
    quality = output.quality
    // Rows do not show whether the file existed before.
    isAdopted = true
    answer = SourceAnswer(row)?.text
  }

  /// - Returns: nil for a text that another version wrote and this one cannot read.
  package init?(text: String) {
    guard let read = text.utf8.first == UInt8(ascii: "{") ? Self(earlier: text) : Self(lines: text) else { return nil }
    self = read
  }

  private init?(lines text: String) {
    let lines = text.fields("\n", most: 7, omittingEmpty: false)
    guard lines.count >= 6, let source = ImageInfo(line: lines[1]), let output = ImageInfo(line: lines[2]) else {
      return nil
    }
    (key, self.source, self.output) = (lines[0], source, output)
    (quality, isAdopted) = (Int(lines[3]), lines[4] == "adopted")
    if !lines[5].isEmpty {
      let fields = lines[5].fields(" ")
      for start in stride(from: 0, to: fields.count - 2, by: 3) {
        guard let kind = Artifact.Kind(rawValue: fields[start]), let bytes = Int(fields[start + 1]) else { continue }
        derived[kind] = DerivedFile(bytes: bytes, sha256: fields[start + 2])
      }
    }
    answer = lines.count > 6 ? lines[6] : nil
  }

  /// Reads what version 0.1.0 stored: a line of JSON, followed by the lines of the answer, if there is one.
  private init?(earlier text: String) {
    let parts = text.fields("\n", most: 2)
    guard let json = parts.first, let value = try? JSONValue(parsing: json), let key = value["product"]?.string,
      let source = ImageInfo(value["source"]), let output = ImageInfo(value["output"])
    else { return nil }
    (self.key, self.source, self.output) = (key, source, output)
    quality = value["quality"]?.integer
    isAdopted = value["adopted"] == .bool(true)
    derived = Dictionary(value) { file in
      guard let bytes = file["bytes"]?.integer, let sha256 = file["sha256"]?.string else { return nil }
      return DerivedFile(bytes: bytes, sha256: sha256)
    }
    answer = parts.count > 1 ? parts[1] : nil
  }
}

extension ImageInfo {
  /// Format, width, height and, if there are several, the number of frames.
  fileprivate var line: String {
    let size = "\(format.rawValue) \(width) \(height)"
    return frames == 1 ? size : size + " \(frames)"
  }

  fileprivate init?(line: String) {
    let fields = line.fields(" ")
    guard fields.count >= 3, let format = ImageFormat(rawValue: fields[0]), let width = Int(fields[1]),
      let height = Int(fields[2])
    else { return nil }
    self.init(format: format, width: width, height: height, frames: fields.count > 3 ? Int(fields[3]) ?? 1 : 1)
  }
}

/// Identifies the result of a filtration. Results with the same key have the same bytes.
package struct ResultKey: Sendable, Hashable {
  /// The source's SHA-256, and the requested format, quality (with the choices for single formats that are not the
  /// defaults), metadata policy and recipe.
  package let text: String

  /// Whether the result is a lossless copy of the source.
  package let isCopy: Bool

  /// The requested quality; nil for a copy.
  package let quality: Int?
  package let metadata: MetadataPolicy

  /// The text without the source's SHA-256.
  package let settings: String

  /// Whether sources whose damage is an error without `DamagePolicy.accept` have results, of the key `ofDamagedSource`.
  package let acceptsDamage: Bool

  /// - Parameters:
  ///   - sha256: The SHA-256 of the source.
  ///   - output: What entries do not say themselves: all but format and quality.
  package init(of sha256: String, for entry: Entry, output: OutputOptions) {
    let options = entry.options
    isCopy = entry.isCopied
    quality = isCopy ? nil : options.quality
    metadata = output.metadata
    acceptsDamage = output.damaged == .accept
    // Each entry has one: interpolating an enum costs as much as filtering a tiny picture.
    var settings = isCopy ? "copied " : (options.format?.rawValue ?? "keep") + " " + String(options.quality)
    if !isCopy { settings += Self.choices(output, for: options.format) + " " }
    settings += metadata.rawValue
    if !isCopy { settings += " " + entry.recipe.description }
    self.settings = settings
    text = sha256 + " " + settings
  }

  /// The choices other than the defaults that affect results of a format; nil for a format that depends on the source.
  private static func choices(_ output: OutputOptions, for format: ImageFormat?) -> String {
    var choices = ""
    if let chroma = output.chroma, format?.hasChroma != false { choices += "/" + chroma.rawValue }
    if output.jpegCoding != .baseline, format == nil || format == .jpeg { choices += "/" + output.jpegCoding.rawValue }
    if output.pngPalette != .off, format == nil || format == .png { choices += "/palette" }
    return choices
  }

  private init(_ key: Self, settings: String, text: String) {
    (isCopy, quality, metadata, acceptsDamage) = (key.isCopy, key.quality, key.metadata, key.acceptsDamage)
    (self.settings, self.text) = (settings, text)
  }

  private static let damageMark = " damaged"

  /// The key of the result of a source that is an error without `DamagePolicy.accept`, mostly because its pixels are damaged.
  package var ofDamagedSource: ResultKey {
    Self(self, settings: settings + Self.damageMark, text: text + Self.damageMark)
  }

  /// The key of an existing result that is the one to be made: this key, or that of a damaged source where it is accepted.
  /// - Parameter text: The text of the result's key.
  /// - Returns: nil when the result is another one.
  package func key(ofResult text: String) -> ResultKey? {
    if text == self.text { return self }
    guard acceptsDamage, text.utf8.count > self.text.utf8.count else { return nil }
    let damaged = ofDamagedSource
    return damaged.text == text ? damaged : nil
  }

  package static func == (one: Self, other: Self) -> Bool { one.text == other.text }

  package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

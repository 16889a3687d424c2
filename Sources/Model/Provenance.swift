import Imaging
import JSON

/// From what a result was made, as the ledger keeps it: what tells whether it would be made again the same, and what its
/// row would say.
package struct Provenance: Sendable, Equatable {
  /// A `ResultKey`, as text.
  package let key: String
  package let source: ImageInfo
  package let output: ImageInfo

  /// The quality with which it was encoded; nil when it is lossless or a copy, and in ledgers of earlier versions.
  package var quality: Int?

  /// Whether the file was there already, with the same bytes, and this program has not put it there as far as it knew: it
  /// is never removed. Nothing is known of a file without provenance either.
  package var isAdopted = false

  /// A file that is made of a result.
  package struct DerivedFile: Sendable, Equatable {
    package let bytes: Int
    let sha256: String
  }

  /// What is delivered with the result, and was made of it.
  package var derived: [Artifact.Kind: DerivedFile] = [:]

  /// A `SourceAnswer`, as text: the one that brought the source, or confirmed it last; nil for files, and in ledgers of earlier
  /// versions.
  package var answer: String?

  /// The source's SHA-256.
  package var sourceSHA256: Substring { key.prefix { $0 != " " } }

  /// The form that is kept in the ledger: JSON in a line, and the answer, if there is one, in those after it.
  package var text: String { answer.map { json + "\n" + $0 } ?? json }

  private var json: String {
    // The first name is that of the ledger's version 2.
    let members = JSONValue.members([
      "product": .string(key), "source": source.json, "output": output.json,
      "quality": quality.map { .integer($0) },
      "adopted": isAdopted ? .bool(true) : nil,
    ])
    return JSONValue.object(
      members + derived.members { .object(["bytes": .integer($0.bytes), "sha256": .string($0.sha256)]) }
    ).text
  }

  init(key: ResultKey, source: ImageInfo, output: ImageInfo) {
    (self.key, self.source, self.output) = (key.text, source, output)
  }

  /// - Returns: nil for what another version wrote and this one does not understand.
  package init?(text: String) {
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

/// What a filtration makes, and of what: results with the same key have the same bytes.
package struct ResultKey: Sendable, Hashable {
  /// The source's SHA-256, the format, quality and metadata asked for, and the recipe.
  package let text: String

  /// Whether the result is a lossless copy of the source.
  package let isCopy: Bool

  /// The quality that was asked for; nil for a copy.
  package let quality: Int?
  package let metadata: MetadataPolicy

  /// - Parameter sha256: The source's.
  package init(of sha256: String, for entry: Entry, metadata: MetadataPolicy) {
    let options = entry.options
    isCopy = entry.isCopied
    quality = isCopy ? nil : options.quality
    self.metadata = metadata
    text =
      isCopy
      ? "\(sha256) copied \(metadata)"
      : "\(sha256) \(options.format?.rawValue ?? "keep") \(options.quality) \(metadata) \(entry.recipe)"
  }
}

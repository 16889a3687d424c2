/// One URL string or entry object per line; blank lines are passed over.
struct JSONLinesManifest: ManifestFormat {
  let name = "jsonl"
  let extensions = ["jsonl", "ndjson"]

  func read(_ file: ManifestFile, _ yield: (ManifestItem) throws -> Void) throws {
    try file.eachLine { line, number in
      guard line.contains(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) else { return }
      try yield(.entry(JSONDocument(parsing: line, line: number).value(), key: nil, place: .line(number)))
    }
  }
}

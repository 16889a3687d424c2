import JSON

/// One string or entry object per line; blank lines are passed over.
struct JSONLinesManifest: ManifestFormat {
  let name = "jsonl"
  let extensions = ["jsonl", "ndjson"]

  func read(_ file: ManifestFile, _ fields: FieldVocabulary, _ yield: (ManifestItem) throws -> Void) throws {
    try file.eachLine { line, number in
      if let line, !line.contains(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) { return }
      try yield(item(line, number))
    }
  }

  private func item(_ line: UnsafeRawBufferPointer?, _ number: Int) -> ManifestItem {
    guard let line else { return .unreadable([ManifestFile.tooLong(line: number)]) }
    do throws(JSONError) {
      return .entry(try JSONDocument(parsing: line, line: number).value(), key: nil, place: .line(number))
    } catch  where error.code == .duplicateKey {
      var problems: [JSONError] = []
      do throws(JSONError) {
        _ = try JSONDocument(parsing: line, line: number, reporting: &problems)
      } catch {
        problems.append(error)
      }
      return .unreadable(problems.map(ManifestProblem.init))
    } catch {
      return .unreadable([ManifestProblem(error).inside(line: number)])
    }
  }
}

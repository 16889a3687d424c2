import JSON

/// One string or entry object per line; blank lines are ignored.
struct JSONLinesManifest: ManifestFormat {
  let name = "jsonl"
  let extensions = ["jsonl", "ndjson"]
  let summary = "JSON lines: one URL or entry on each line"

  func read(_ file: ManifestFile, _ fields: FieldVocabulary, _ yield: (ManifestItem) throws -> Void) throws {
    try file.eachLine { line, number in
      if let line, !line.contains(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) { return }
      try yield(item(line, number, fields))
    }
  }

  private func item(_ line: UnsafeRawBufferPointer?, _ number: Int, _ fields: FieldVocabulary) -> ManifestItem {
    guard let line else { return .unreadable(EntryProblems(ManifestFile.tooLong(line: number))) }
    do throws(JSONError) {
      let value = try JSONDocument(parsing: line, line: number, allowingNUL: true).value()
      return .entry(fields.canonical(value), key: nil, location: .line(number))
    } catch  where error.code == .duplicateKey {
      return .unreadable(problems(line, number, after: error))
    } catch  where error.code == .incomplete {
      let hint = "; each line is an entry: entries of several lines are for .json, in an array"
      return .unreadable(
        EntryProblems(ManifestProblem(JSONError(error.code, error.message + hint, at: error.location))))
    } catch {
      return .unreadable(EntryProblems(ManifestProblem(error).inside(line: number)))
    }
  }

  /// All errors of a line in which a key occurs twice.
  /// - Parameter duplicate: The first such key. It may be nested deeper than the search for others goes.
  private func problems(_ line: UnsafeRawBufferPointer, _ number: Int, after duplicate: JSONError) -> EntryProblems {
    var errors: [JSONError] = []
    do throws(JSONError) {
      _ = try JSONDocument(parsing: line, line: number, allowingNUL: true, reporting: &errors).value()
    } catch {
      errors.append(error)
    }
    return EntryProblems(errors.map { ManifestProblem($0).inside(line: number) })
      ?? EntryProblems(ManifestProblem(duplicate))
  }
}

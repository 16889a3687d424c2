import Model
import System

extension ReportRow {
  /// The name of the result, which is unique in the job, and by which the ledger and the index know the row: its `name` is the one
  /// that the manifest gives. Of a row without a file it lacks the number that a replaced name gets when it is taken.
  package var resultName: String {
    if let output, let name = Self.resultName(ofFile: output.file) { return name }
    let path = OutputName.explicit(name).path
    return variant.map { Entry.name(path, $0) } ?? path
  }

  /// Whether it has no file, and a name that other systems cannot store: the name of its result is not certain then.
  package var hasReplacedName: Bool { output == nil && OutputName.explicit(name).replacedClaim != nil }

  /// The name of the result of a row, found as in `sourceSHA256`: a merged report may have millions of rows.
  /// - Returns: nil for a row without a file.
  package static func resultName(ofRow text: String) -> String? {
    guard let file = outputFile(text) else { return nil }
    if file.contains("\\") { return (try? ReportRow(parsing: text))?.resultName }
    return resultName(ofFile: file)
  }

  /// The path of a result without its folder and its extension.
  private static func resultName(ofFile file: String) -> String? {
    let folder = Artifact.Kind.result.folder + "/"
    guard file.begins(with: folder), let dot = file.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    return String(Substring(file.utf8[..<dot].dropFirst(folder.utf8.count)))
  }
}

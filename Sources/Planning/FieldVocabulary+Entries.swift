import JSON
import Manifests
import Model
import System
import Transfer

extension FieldVocabulary {
  /// The fields of `EntryReader` for the formats of tables and lists.
  static let entries = FieldVocabulary(
    principal: "url", principalTitle: "URL", principalHints: ["url", "uri", "link"],
    titleHints: [
      "bezeichnung", "bildname", "dateiname", "file name", "file_name", "filename", "naam", "namn", "navn", "nazwa",
      "nom",
      "nombre", "nome", "titel", "titolo", "titre", "título",
    ], cells: cells, extras: "metadata",
    expanded: "variants",
    options: [
      Option("out", field: "name") { text throws(ParseError) in
        guard !text.isEmpty else { throw ParseError("\"out\" needs a name") }
        return .string(text)
      },
      Option("checksum", field: "checksum") { text throws(ParseError) in
        .string(try Checksum(parsing: text).description)
      },
      Option("header", field: "headers", memberLimit: headerLimit) { text throws(ParseError) in
        try header { () throws(SourceRequest.ParseError) in try HeaderField(parsing: text) }
      },
      Option("referer", field: "headers", memberLimit: headerLimit) { text throws(ParseError) in
        // The request handles the referer *.
        return try header { () throws(SourceRequest.ParseError) in try HeaderField("Referer", text) }
      },
    ], sourceFields: Set(EntryReader.sourceFields + [FolderSource.othersField]),
    defaultsFields: Set(EntryReader.defaultsFields))

  private static let cells: [String: CellKind] = {
    let special: [String: CellKind] = [
      "url": .textOrArray, "quality": .number, "headers": .json, "form": .json, "after": .textOrArray,
      "variants": .json,
      "metadata": .extras,
    ]
    return Dictionary(uniqueKeysWithValues: EntryReader.fields.map { ($0, special[$0] ?? .text) })
  }()

  /// Above the limit of a request, so that the request reports too many header fields.
  private static let headerLimit = 2 * SourceRequest.maxHeaderBytes

  private static func header(
    _ parse: () throws(SourceRequest.ParseError) -> HeaderField
  ) throws(ParseError) -> JSONValue {
    do throws(SourceRequest.ParseError) {
      return .headers([try parse()])
    } catch {
      throw ParseError(error.message)
    }
  }
}

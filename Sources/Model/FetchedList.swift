import JSON
import Manifests
import Transfer

/// The list that was downloaded from a manifest's source, or the listing of a folder, as the ledger stores it. Its
/// bytes are in the state folder.
package struct FetchedList: Sendable, Equatable, Codable {
  package let format: String

  /// Whether it is compressed with gzip.
  package let isCompressed: Bool
  package let sha256: String
  package let bytes: Int

  /// The requested URL, without secrets.
  package let url: String

  /// The URL that returned it, redirects followed, without secrets.
  package let finalURL: String

  /// 200 or 304; nil for a file, and for a list that another request returned.
  package let httpStatus: Int?

  /// Which entries of a folder were left out, and why; nil when none was, and for other lists.
  package var warnings: [String]?

  /// The folder after whose paths the results are named; nil for a list that was downloaded.
  package var base: String?

  /// Whether files of a folder were left out because they were being written; nil for no.
  package var isIncomplete: Bool?

  package init(
    format: String, isCompressed: Bool, sha256: String, bytes: Int, url: String, finalURL: String, httpStatus: Int?,
    base: String? = nil, warnings: [String]? = nil, isIncomplete: Bool? = nil
  ) {
    self.format = format
    self.isCompressed = isCompressed
    self.sha256 = sha256
    self.bytes = bytes
    self.url = url
    self.finalURL = finalURL
    self.httpStatus = httpStatus
    self.base = base
    self.warnings = warnings
    self.isIncomplete = isIncomplete
  }

  /// Whether it came from a server and not from a file of this machine.
  package var isFromServer: Bool { base == nil && (try? SourceLocation(parsing: finalURL))?.scheme != .file }

  /// The warnings about the listing of a folder; none for a downloaded list.
  package var manifestWarnings: [ManifestWarning] {
    var all = (warnings ?? []).map { ManifestWarning(.leftOut, $0, at: .keyPath(["source"])) }
    if base != nil, bytes == 0, isIncomplete != true {
      all.insert(ManifestWarning(.noFiles, "\(url) has no pictures", at: .keyPath(["source"])), at: 0)
    }
    return all
  }

  /// The list as it appears in the report's `manifest`.
  package var json: JSONValue {
    .object([
      "url": .string(url), "final_url": finalURL == url ? nil : .string(finalURL), "format": .string(format),
      "bytes": .integer(bytes), "sha256": .string(sha256), "http_status": httpStatus.map { .integer($0) },
    ])
  }
}

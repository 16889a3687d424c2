import JSON
import Manifests
import Transfer

/// What a manifest's source has listed, or the listing of a folder that is its source, as the ledger remembers it. Its bytes are in the state folder.
package struct FetchedList: Sendable, Equatable, Codable {
  package let format: String

  /// Whether it is packed with gzip.
  package let isCompressed: Bool
  package let sha256: String
  package let bytes: Int

  /// The URL that was asked, without secrets.
  package let url: String

  /// The URL that returned it, redirects followed, without secrets.
  package let finalURL: String

  /// 200 or 304; nil for a file, and for what another request has returned.
  package let httpStatus: Int?

  /// What of a folder was left out, and why; nil when nothing was, and for what is no folder.
  package var warnings: [String]?

  /// Whether files of a folder were left for the next time, because they were being written; nil when none was.
  package var isIncomplete: Bool?

  package init(
    format: String, isCompressed: Bool, sha256: String, bytes: Int, url: String, finalURL: String, httpStatus: Int?,
    warnings: [String]? = nil, isIncomplete: Bool? = nil
  ) {
    self.format = format
    self.isCompressed = isCompressed
    self.sha256 = sha256
    self.bytes = bytes
    self.url = url
    self.finalURL = finalURL
    self.httpStatus = httpStatus
    self.warnings = warnings
    self.isIncomplete = isIncomplete
  }

  /// Whether a server has sent it, and no file of this machine has it.
  package var isFromServer: Bool { (try? SourceLocation(parsing: finalURL))?.scheme != .file }

  /// What is doubtful about the listing of a folder; nothing for a list that was downloaded.
  package var manifestWarnings: [ManifestWarning] {
    if let warnings { return warnings.map { ManifestWarning(.leftOut, $0, at: .keyPath(["source"])) } }
    guard bytes == 0, FolderLocation(parsing: url) != nil else { return [] }
    return [ManifestWarning(.noFiles, "\(url) has no files; folders in it are not read", at: .keyPath(["source"]))]
  }

  /// The list as the report's `manifest` has it.
  package var json: JSONValue {
    .object([
      "url": .string(url), "final_url": finalURL == url ? nil : .string(finalURL), "format": .string(format),
      "bytes": .integer(bytes), "sha256": .string(sha256), "http_status": httpStatus.map { .integer($0) },
    ])
  }
}

import Foundation
import Imaging
import Manifests

/// The manifest that a job works on, as the ledger remembers it.
package struct JobManifest: Sendable, Equatable, Codable {
  /// The file's name when it was accepted.
  package let file: String

  package let format: String

  /// Of the file's bytes; empty when it was not read to its end, because it is too large.
  package let sha256: String

  /// Where the file lies if it is to be moved when the job is done; nil when it stays where it is.
  package let inboxPath: String?

  /// Tells whether the file is still the one that was accepted, or has the same bytes and has taken its place.
  package var identity: String

  /// Milliseconds since 1970, UTC.
  package let accepted: Int

  /// What entries get for the fields that they leave out, as the options said on acceptance.
  package let filters: String
  package let outputFormat: String
  package let quality: Int

  /// Whether everything was to be asked for again; nil for false, and in ledgers of earlier versions.
  package let refresh: Bool?

  /// What its entries need; nil when it was accepted without such options, and in ledgers of earlier versions.
  package var options: AcceptedOptions?

  /// Why there is no room for a snapshot, however much is removed, or the file was not read to its end: then there is none.
  /// Default: nil, there is one.
  package var tooLarge: String?

  /// The mode, the group and the owner of the file that was accepted; nil in ledgers of earlier versions.
  package var mode: Int?
  package var group: Int?
  package var owner: Int?

  /// What its source has listed; nil when it lists its entries itself, and as long as its source was not downloaded.
  package var list: FetchedList?

  /// The first of the runs of which each has replaced the one before, its own being the last. Default: nil, it has replaced
  /// none.
  package var chain: FirstRun?

  /// What processes that have ended in order asked of servers for it. Default: nil, nothing.
  package var transfers: Transfers?

  /// The first of several runs.
  package struct FirstRun: Sendable, Equatable, Codable {
    package let runID: String

    /// Milliseconds since 1970, UTC.
    package let accepted: Int

    package init(runID: String, accepted: Int) {
      self.runID = runID
      self.accepted = accepted
    }
  }

  /// The extension of the file's name, `.gz` included.
  package var fileExtension: String { ManifestFileName(file)?.suffix ?? format }

  /// Whether another manifest of the job lists the same: it has the same bytes, and entries get the same for the fields that
  /// they leave out. What a source lists may have changed.
  package func isSame(as other: JobManifest) -> Bool {
    list == nil && other.list == nil && tooLarge == nil && other.tooLarge == nil
      && (file, format, sha256) == (other.file, other.format, other.sha256)
      && (filters, outputFormat, quality, refresh) == (other.filters, other.outputFormat, other.quality, other.refresh)
  }

  /// Whether it is to be moved out of an inbox.
  /// - Parameter inbox: The inbox's path.
  package func lies(in inbox: String) -> Bool { inboxPath == inbox + "/" + file }

  /// The form that is kept in the ledger.
  package var text: String {
    get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
  }

  package init(text: String) throws {
    self = try JSONDecoder().decode(JobManifest.self, from: Data(text.utf8))
  }

  package init(
    file: String, format: String, sha256: String, inboxPath: String?, identity: String, accepted: Int,
    configuration: Configuration
  ) {
    self.file = file
    self.format = format
    self.sha256 = sha256
    self.inboxPath = inboxPath
    self.identity = identity
    self.accepted = accepted
    filters = configuration.filters.description
    outputFormat = configuration.output.format?.rawValue ?? "keep"
    quality = configuration.output.quality
    refresh = configuration.refresh ? true : nil
    options = AcceptedOptions(configuration)
  }
}

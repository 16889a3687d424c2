import Foundation
import Imaging
import Manifests
import System

/// The manifest of a run, as the ledger stores it.
package struct JobManifest: Sendable, Equatable, Codable {
  /// The name of the file when it was accepted.
  package let file: String

  package let format: String

  /// The SHA-256 of the file; empty when the file is too large and was not read completely.
  package let sha256: String

  /// The path from which the file is moved when the job is done; nil when it stays where it is.
  package let inboxPath: String?

  /// Identifies the accepted file, or a later file with the same bytes.
  package var identity: String

  /// Milliseconds since 1970, UTC.
  package let accepted: Int

  /// The defaults for fields that entries leave out, from the options on acceptance.
  package let filters: String
  package let outputFormat: String
  package let quality: Int

  /// The recipes on acceptance that its entries use by their names, see `NamedRecipes.text`; nil without any, and in ledgers of
  /// earlier versions.
  package let recipes: String?

  /// Whether everything is requested again; nil for no, and in ledgers of earlier versions.
  package let refresh: Bool?

  /// The options on acceptance that its entries may need, see `AcceptedOptions`: networks and patterns of hosts with spaces
  /// between them, since arrays take long to read. nil when they were not given, and in ledgers of earlier versions.
  package var networks: String?
  package var fileRoot: String?
  package var hostRules: String?

  /// Why there is no room for a snapshot, however much is removed, or the file was not read to its end: then there is none.
  /// Default: nil, there is one.
  package var tooLarge: String?

  /// The mode, group and owner of the accepted file; nil in ledgers of earlier versions.
  package var mode: Int?
  package var group: Int?
  package var owner: Int?

  /// The list from its source; nil when it contains its entries itself, and until the list is downloaded.
  package var list: FetchedList?

  /// The first run of the chain of replacements that ends with its own. Default: nil, it has replaced none.
  package var chain: FirstRun?

  /// The requests that earlier processes sent for the run, counted when they ended in order. Default: nil, none.
  package var transfers: Transfers?

  /// The first of a chain of runs.
  package struct FirstRun: Sendable, Equatable, Codable {
    package let runID: String

    /// Milliseconds since 1970, UTC.
    package let accepted: Int

    package init(runID: String, accepted: Int) {
      self.runID = runID
      self.accepted = accepted
    }
  }

  /// The extension of the file's name, including `.gz`.
  package var fileExtension: String { ManifestFileName(file)?.suffix ?? format }

  /// Whether another manifest of the job has the same bytes, and its entries the same defaults. Never for one with a
  /// list, which may have changed.
  package func isSame(as other: JobManifest) -> Bool {
    list == nil && other.list == nil && tooLarge == nil && other.tooLarge == nil
      && (file, format, sha256) == (other.file, other.format, other.sha256)
      && (filters, outputFormat, quality, refresh) == (other.filters, other.outputFormat, other.quality, other.refresh)
      && recipes == other.recipes
  }

  /// Whether its file is in an inbox, from which it is moved when the job is done.
  /// - Parameter inbox: The inbox's path.
  package func lies(in inbox: String) -> Bool { inboxPath?.isIdentical(to: inbox + "/" + file) == true }

  /// The text that the ledger stores.
  package var text: String {
    get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
  }

  package init(text: String) throws { self = try JSONDecoder().decode(JobManifest.self, from: Data(text.utf8)) }

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
    recipes = configuration.recipes.text
    refresh = configuration.refresh ? true : nil
    let allowed = configuration.transfer.addressPolicy.allowedNetworks
    networks = allowed.isEmpty ? nil : allowed.map(\.description).joined(separator: " ")
    fileRoot = configuration.transfer.fileRoot
    let patterns = configuration.hosts.isEmpty ? [] : configuration.hosts.patternsWithSecrets
    hostRules = patterns.isEmpty ? nil : patterns.joined(separator: " ")
  }
}

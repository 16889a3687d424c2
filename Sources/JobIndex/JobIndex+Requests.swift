import Database
import JSON
import Manifests
import Scheduling
import Transfer

/// The requests of entries.
extension JobIndex {
  /// Identifies the request of an entry: its key or first URL, and the number of the rest of the request; nil when
  /// there is no such entry.
  package func requestIdentity(at position: Int) throws -> String? {
    try database.first("SELECT key, url, request FROM entries WHERE position = ?", [.integer(position)]) { row in
      "\(row.integer(2)) " + (row.text(0).map { "key " + $0 } ?? row.text(1) ?? "")
    }
  }

  /// Finds the values of `cache-key` of entries whose first URLs differ before the query, in the manifest's order.
  /// - Returns: For each value the first entry that has it, and the number of entries.
  func sharedKeys(limit: Int) throws -> [SharedKeys.Shared] {
    guard hasKeys else { return [] }
    return try database.all(
      """
      SELECT key, min(position) AS first, count(*) FROM (
        SELECT key, position, substr(url, 1, instr(replace(url, '#', '?') || '?', '?') - 1) AS address FROM entries
        WHERE key IS NOT NULL AND host != ? AND (first_row IS NULL OR first_row = position))
      GROUP BY key HAVING min(address) != max(address) ORDER BY first LIMIT ?
      """, [.integer(HostScheduler.files), .integer(limit)]
    ) { SharedKeys.Shared(key: $0.text(0) ?? "", first: $0.integer(1), count: $0.integer(2)) }
  }

  /// Whether an entry contains secrets: headers, a body, a form, or a user name or password in one of its URLs.
  /// - Throws: `SQLiteError`, `JSONError`.
  package func hasSecrets() throws -> Bool {
    var hasSecrets = false
    try database.run("SELECT url FROM entries WHERE instr(url, '@') OR instr(url, '%40') OR instr(url, '\u{ff20}')") {
      row in
      hasSecrets = hasSecrets || Self.holdsSecret(row.text(0) ?? "")
    }
    if hasSecrets { return true }
    // Equal requests are stored once.
    try database.run("SELECT text FROM requests") { row in
      guard !hasSecrets, case .object(let members) = try JSONValue(parsing: row.text(0) ?? "") else { return }
      hasSecrets = members.contains { member in
        guard member.key == "url" else { return RequestFields.secret.contains(member.key) }
        guard case .array(let mirrors) = member.value else { return true }
        return mirrors.contains { $0.string.map(Self.holdsSecret) ?? true }
      }
    }
    return hasSecrets
  }

  /// Whether a URL has a user name or a password. A text with an `@` of any kind that is not a URL may contain one too.
  private static func holdsSecret(_ url: String) -> Bool {
    guard url.utf8.contains(where: { [UInt8(ascii: "@"), UInt8(ascii: "%"), 0xef].contains($0) }) else { return false }
    do throws(TransferError) {
      return try SourceLocation(parsing: url).redacted != url
    } catch {
      return true
    }
  }
}

/// Entries with the same `cache-key` whose URLs differ before their queries. The cache treats them as one source, so
/// that a key that was set by mistake gives them all the same picture.
package struct SharedKeys {
  struct Shared: Equatable {
    let key: String

    /// The position of the first entry with the key.
    let first: Int

    /// The number of entries with the key.
    let count: Int
  }

  /// In the manifest's order.
  private let shared: [Shared]

  package init() { shared = [] }

  /// Finds the shared keys of an index.
  /// - Throws: `SQLiteError`.
  package init(of index: JobIndex) throws { shared = try index.sharedKeys(limit: ManifestWarning.reportLimit) }

  /// Adds a warning for each shared key.
  /// - Parameter read: Reads the manifest from its beginning, with the same items as before.
  package func complete(_ findings: inout ManifestFindings, read: ((ManifestItem) throws -> Void) throws -> Void) throws
  {
    guard !shared.isEmpty else { return }
    let origins = try EntryOrigin.all(of: Set(shared.map(\.first)), read: read)
    for key in shared {
      let message =
        "\(key.count) entries have the cache-key \"\(EntryOrigin.shown(key.key))\" and URLs that differ before \"?\": "
        + "those at one server are taken for one source"
      let location = origins[key.first]?.location.field("cache-key") ?? .file
      findings.warnings.append(ManifestWarning(.sharedKey, message, at: location))
    }
  }
}

import Manifests

/// Entries with the same `cache-key` whose URLs differ in more than their queries. They are one source for the cache, so that a
/// key that was meant for something else gives all of them the same picture.
struct SharedKeys {
  struct Shared: Equatable {
    let key: String

    /// The position of the first entry that has it.
    let first: Int

    /// How many entries have it.
    let count: Int
  }

  /// In the manifest's order.
  private let shared: [Shared]

  /// None.
  init() { shared = [] }

  /// Finds those of an index.
  /// - Throws: `SQLiteError`.
  init(of index: JobIndex) throws { shared = try index.sharedKeys(limit: ManifestWarning.reportLimit) }

  /// Adds a warning for each of them.
  /// - Parameter read: Reads the manifest from its beginning, as it was read before.
  func complete(_ findings: inout ManifestFindings, read: ((ManifestItem) throws -> Void) throws -> Void) throws {
    guard !shared.isEmpty else { return }
    let origins = try EntryOrigin.all(of: Set(shared.map(\.first)), read: read)
    for key in shared {
      let message =
        "\(key.count) entries have the cache-key \"\(EntryOrigin.shown(key.key))\" and URLs that differ before \"?\": "
        + "those at one server are taken for one source"
      let place = origins[key.first]?.place.field("cache-key") ?? .file
      findings.warnings.append(ManifestWarning(.sharedKey, message, at: place))
    }
  }
}

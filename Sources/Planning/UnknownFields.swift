import System

/// Interprets keys of entries that are not fields. Caches results, since most entries of a manifest have the same keys.
struct UnknownFields {
  enum Meaning: Equatable {
    /// The member is added to the metadata.
    case metadata
    /// The field in another case, which the entry has already.
    case repeated(String)
    /// Probably the field, which the entry does not have.
    case misspelt(String)
  }

  /// The fields that a key resembles, whatever other members its entry has.
  private struct Likeness {
    /// The field of the same name in another case.
    let same: String?

    /// The fields of which it may be a misspelling.
    let near: [String]
  }

  /// The most keys that are cached. When it is reached, the cache is emptied.
  static let limit = 256

  private var known: [String: Likeness] = [:]

  var count: Int { known.count }

  /// - Parameter given: The fields that the entry has.
  mutating func meaning(of key: String, given: Set<String>) -> Meaning {
    let likeness = likeness(of: key)
    if let field = likeness.same { return .repeated(field) }
    return likeness.near.first { !given.contains($0) }.map(Meaning.misspelt) ?? .metadata
  }

  private mutating func likeness(of key: String) -> Likeness {
    if let likeness = known[key] { return likeness }
    let small = key.lowercased()
    let likeness = Likeness(
      same: EntryReader.fields.first { $0 == small },
      near: NearestName.allMisspelt(key, among: EntryReader.fields))
    if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
    known[key] = likeness
    return likeness
  }
}

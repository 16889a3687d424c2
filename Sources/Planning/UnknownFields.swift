import JSON
import System

/// Tells what the keys of entries mean that are no fields. Those seen last are kept, since most manifests have few.
struct UnknownFields {
  enum Meaning: Equatable {
    /// It goes into the metadata.
    case metadata
    /// The field, which the entry has already, in another case.
    case repeated(String)
    /// Probably the field, which the entry lacks.
    case misspelt(String)
  }

  /// What a key is, whatever else its entry has.
  private struct Likeness {
    /// The field of that name in another case.
    let same: String?

    /// The fields of which it may be a misspelling.
    let near: [String]
  }

  /// How many keys are kept. When there are more, all of them are dropped.
  static let limit = 256

  private var known: [String: Likeness] = [:]

  var count: Int { known.count }

  mutating func meaning(of key: String, in members: [JSONValue.Member]) -> Meaning {
    let likeness = likeness(of: key)
    if let field = likeness.same { return .repeated(field) }
    let missing = likeness.near.first { field in !members.contains { $0.key == field } }
    return missing.map(Meaning.misspelt) ?? .metadata
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

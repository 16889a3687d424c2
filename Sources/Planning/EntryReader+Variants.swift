import JSON
import JobIndex
import Manifests
import Model
import System

/// Variants.
extension EntryReader {
  /// The variants of an entry, which inherit the recipe and options of `defaults`. Invalid ones are reported.
  mutating func readVariants(_ value: JSONValue, at location: ManifestProblem.Location) -> [EntryVariant] {
    guard case .array(let list) = value else {
      report(.wrongType, "\"variants\" must be an array, not \(value.kind)", at: location.field("variants"))
      return []
    }
    guard (1...EntryVariant.limit).contains(list.count) else {
      let message = "an entry may have 1 to \(EntryVariant.limit) variants; this one has \(list.count)"
      report(.badValue, message, at: location.field("variants"))
      return []
    }
    var claims: Set<String> = []
    return list.enumerated().compactMap { index, value in
      readVariant(value, &claims, at: location.field("variants[\(index)]"))
    }
  }

  mutating func readVariant(
    _ value: JSONValue, _ claims: inout Set<String>, at location: ManifestProblem.Location
  ) -> EntryVariant? {
    let value = FieldVocabulary.entries.canonical(value)
    guard case .object(let members) = value else {
      report(.wrongType, "a variant must be an object, not \(value.kind)", at: location)
      return nil
    }
    for key in members.map(\.key) where !key.hasPrefix("_") && !EntryVariant.fields.contains(key) {
      report(.unknownField, NearestName.unknown("field", key, among: EntryVariant.fields), at: location.field(key))
    }
    let (recipe, options) = (recipe(value["filters"], at: location), options(value, at: location))
    if value["name"] == nil { report(.badValue, "a variant needs a \"name\"", at: location) }
    guard let name = text(value["name"], field: "name", at: location) else { return nil }
    if let problem = EntryVariant.problem(withName: name) {
      report(.badValue, problem, at: location.field("name"))
    } else if !claims.insert(OutputName.claim(name)).inserted {
      report(.duplicateName, "the entry has another variant \"\(name)\"", at: location.field("name"))
    }
    return EntryVariant(name: name, recipe: recipe, options: options)
  }
}

import Imaging
import JSON
import Manifests
import Model
import System
import Transfer

/// The fields that say what is done with a picture, and after which entries.
extension EntryReader {
  mutating func checksum(_ value: JSONValue?, at location: ManifestProblem.Location) -> Checksum? {
    guard let text = text(value, field: "checksum", at: location) else { return nil }
    do {
      return try Checksum(parsing: text)
    } catch {
      report(.badValue, error.message, at: location.field("checksum"))
      return nil
    }
  }

  mutating func recipe(_ value: JSONValue?, at location: ManifestProblem.Location) -> Recipe {
    guard let text = text(value, field: "filters", at: location) else { return defaults.recipe }
    do {
      return try recipes.recipe(text, named: defaults.recipes)
    } catch {
      report(.badRecipe, error.description, at: location.field("filters"))
      return defaults.recipe
    }
  }

  mutating func options(_ value: JSONValue, at location: ManifestProblem.Location) -> OutputOptions {
    var options = defaults.options
    if let format = text(value["format"], field: "format", at: location) {
      switch OutputFormatName(rawValue: format) {
      case let name?: options.format = name.format
      case nil:
        let known = OutputFormatName.allCases.map(\.rawValue)
        report(.badValue, NearestName.unknown("format", format, among: known), at: location.field("format"))
      }
    }
    switch value["quality"].map(Self.wholeNumber) {
    case nil: break
    case .integer(let quality) where (1...100).contains(quality): options.quality = quality
    case .integer(let quality):
      report(.badValue, "\"quality\" must be from 1 to 100, not \(quality)", at: location.field("quality"))
    case let other?:
      let number = other.string.flatMap { text in (1...100).first { "\($0)" == text } }
      let hint = number.map { "; write it as a number: \($0)" } ?? ""
      let message = "\"quality\" must be a whole number from 1 to 100, not \(other.shown)\(hint)"
      report(.wrongType, message, at: location.field("quality"))
    }
    return options
  }

  /// A number such as 85.0 or 1e2 as an integer; other values as they are.
  private static func wholeNumber(_ value: JSONValue) -> JSONValue {
    guard case .number(let number) = value, let whole = Int(exactly: number) else { return value }
    return .integer(whole)
  }

  mutating func priority(_ value: JSONValue?, at location: ManifestProblem.Location) -> Entry.Priority {
    guard let text = text(value, field: "priority", at: location) else { return defaults.priority }
    if let priority = Entry.Priority(rawValue: text) { return priority }
    let known = Entry.Priority.allCases.map(\.rawValue)
    report(.badValue, NearestName.unknown("priority", text, among: known), at: location.field("priority"))
    return defaults.priority
  }

  /// The longest `cache-key`, in bytes.
  static let keyLimit = 1024

  mutating func cacheKey(_ value: JSONValue?, at location: ManifestProblem.Location) -> String? {
    guard let key = text(value, field: "cache-key", at: location) else { return nil }
    let problem: String? =
      if key.isEmpty {
        "a \"cache-key\" must not be empty"
      } else if key.utf8.count > Self.keyLimit {
        "a \"cache-key\" may have \(Self.keyLimit) bytes; this one has \(key.utf8.count)"
      } else if key.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
        "a \"cache-key\" must not hold control characters"
      } else {
        nil
      }
    if let problem { report(.badValue, problem, at: location.field("cache-key")) }
    return problem == nil ? key : nil
  }

  /// The names of an array, or a single name. Invalid values are reported.
  mutating func dependencies(_ value: JSONValue, at location: ManifestProblem.Location) -> [String] {
    let values: [JSONValue]
    switch value {
    case .string: values = [value]
    case .array(let array): values = array
    default:
      report(.wrongType, "\"after\" must be an array of names, not \(value.kind)", at: location)
      return []
    }
    if let other = values.firstIndex(where: { $0.string == nil }) {
      report(.wrongType, "names must be strings; number \(other + 1) is \(values[other].kind)", at: location)
    } else if values.contains(where: { $0.string?.isEmpty == true }) {
      report(.badValue, "a name in \"after\" must not be empty", at: location)
    } else if values.contains(where: { $0.string?.utf8.contains(0) == true }) {
      report(.badValue, "a name in \"after\" holds U+0000", at: location)
    } else {
      return values.compactMap { redacted($0.string) }
    }
    return []
  }
}

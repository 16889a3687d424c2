import Imaging
import JobIndex
import JSON
import Manifests
import Model
import System
import Transfer

/// Turns the items of a manifest into entries, and collects all problems.
struct EntryReader {
  static let fields = EntryField.all.map(\.name)
  static let defaultsFields = EntryField.all.filter(\.isDefault).map(\.name)

  /// The fields that may be used together with `source`.
  static let sourceFields = EntryField.all.filter(\.isBesideSource).map(\.name)

  private(set) var defaults: EntryDefaults

  /// The folder after whose paths entries without names are named; nil for other lists.
  private let base: String?

  /// The problems, in the order of the manifest.
  private(set) var problems: [ManifestProblem] = []

  /// The given name of the entry that was read last, even if the entry has a problem; nil when it has none.
  private(set) var givenName: OutputName?

  /// The names in the field `after` of the entry that was read last.
  private(set) var after: [String] = []

  /// The variants of the entry that was read last; empty for one without variants.
  private(set) var variants: [EntryVariant] = []

  var recipes = RecipeCache()

  /// The first `metadata` that is a value of `--metadata`. It is no setting, but data for the report.
  private(set) var mistakenMetadata: (location: ManifestProblem.Location, value: String)?

  private var unknownFields = UnknownFields()

  /// The `variants` of the manifest's `defaults`, if they have a problem: it is reported once, and not for every entry.
  private var invalidVariants: JSONValue?

  /// Whether the manifest's `defaults` contain secrets, even if no entry uses them, or a name did, from which they were
  /// removed.
  private(set) var hasSecretDefaults = false

  init(defaults: EntryDefaults, base: String? = nil) { (self.defaults, self.base) = (defaults, base) }

  /// Reads an envelope's `defaults`. Fields that they leave out keep their values.
  mutating func readDefaults(_ value: JSONValue, at location: ManifestProblem.Location) {
    guard case .object(let members) = value else {
      return report(.wrongType, "defaults must be an object, not \(value.kind)", at: location)
    }
    let others = others(members, ofDefaults: true, at: location)
    hasSecretDefaults = hasSecretDefaults || members.contains { RequestFields.secret.contains($0.key) }
    let request = requestFields(members, at: location)
    defaults = EntryDefaults(
      recipe: recipe(value["filters"], at: location),
      options: options(value, at: location),
      priority: priority(value["priority"], at: location),
      metadata: metadata(value["metadata"], others, at: location),
      request: request == RequestFields() ? defaults.request : request)
    // What is invalid by itself is reported once, and not for every entry.
    var before = problems.count
    if let list = value["variants"] {
      _ = readVariants(list, at: location)
      if problems.count > before { invalidVariants = list }
    }
    before = problems.count
    _ = self.request(RequestFields(), at: location)
    if problems.count > before { defaults.request = RequestFields() }
  }

  /// Reads one entry. A derived name is not yet unique in the job.
  /// - Returns: nil when it has a problem that rejects the manifest.
  mutating func read(_ value: JSONValue, key: String?, position: Int, at location: ManifestProblem.Location) -> Entry? {
    let before = problems.count
    let entry: Entry
    let key = redacted(key)
    givenName = key.map(OutputName.explicit)
    if !after.isEmpty { after = [] }
    if !variants.isEmpty { variants = [] }
    switch value {
    case .string(let url):
      entry = Entry(
        position: position, urls: [Self.trimmed(url)], request: request(RequestFields(), at: location),
        named: key, givenName, base: base, line: location.line, recipe: defaults.recipe, options: defaults.options,
        priority: defaults.priority,
        checksum: nil,
        metadata: defaults.metadata)
    case .object(let members):
      let others = others(members, ofDefaults: false, at: location)
      let name = redacted(text(value["name"], field: "name", at: location))
      if let name { givenName = .explicit(name) }
      if let names = value["after"] { after = dependencies(names, at: location.field("after")) }
      entry = Entry(
        position: position, urls: urls(value["url"], at: location),
        request: request(requestFields(members, at: location), at: location),
        key: cacheKey(value["cache-key"], at: location), named: name ?? key, givenName, base: base, line: location.line,
        recipe: recipe(value["filters"], at: location), options: options(value, at: location),
        priority: priority(value["priority"], at: location), checksum: checksum(value["checksum"], at: location),
        metadata: metadata(value["metadata"], others, at: location))
      if let list = value["variants"], list != invalidVariants {
        let inherited = defaults
        (defaults.recipe, defaults.options) = (entry.recipe, entry.options)
        variants = readVariants(list, at: location)
        defaults = inherited
      }
    default:
      report(.wrongType, "an entry is a URL or an object, not \(value.kind)", at: location)
      return nil
    }
    return problems.count == before ? entry : nil
  }

  /// Records a problem that ended the reading of the manifest.
  mutating func report(_ problem: ManifestProblem) { problems.append(problem) }

  /// A name or key without secrets. Names are compared, shown and stored without them.
  mutating func redacted(_ name: String?) -> String? {
    guard let name else { return nil }
    let redacted = SourceLocation.redacted(name: name)
    if redacted != name { hasSecretDefaults = true }
    return redacted
  }

  // MARK: Fields

  /// The members that are not fields. Members with a problem are reported and left out: misspelt fields, fields that
  /// occur twice in different cases, and fields that defaults must not have.
  private mutating func others(
    _ members: [JSONValue.Member], ofDefaults isDefaults: Bool, at location: ManifestProblem.Location
  ) -> [JSONValue.Member] {
    var others: [JSONValue.Member] = []
    let known = isDefaults ? Self.defaultsFields : Self.fields
    var given: Set<String>?
    for member in members where !member.key.hasPrefix("_") && !known.contains(member.key) {
      // Further problems are not reported, and an entry may have any number of members.
      if problems.count >= ManifestProblem.reportLimit { break }
      let key = member.key
      if isDefaults, Self.fields.contains(key) {
        report(.unknownField, "unknown field \"\(key)\" in \"defaults\"; only entries have it", at: location.field(key))
        continue
      }
      let present = given ?? Set(members.lazy.map(\.key).filter(Self.fields.contains))
      given = present
      switch unknownFields.meaning(of: key, given: present) {
      case .metadata: others.append(.init(redacted(key) ?? key, member.value))
      case .repeated(let field):
        report(.syntax, "the field \"\(field)\" occurs twice, also as \"\(key)\"", at: location.field(key))
      case .misspelt(let field):
        let message = "unknown field \"\(key)\"; did you mean \"\(field)\"? If not, put it into \"metadata\""
        report(.unknownField, message, at: location.field(key))
      }
    }
    return others
  }

  /// The given metadata together with members that are not fields; the default metadata when there are none of both.
  private mutating func metadata(
    _ given: JSONValue?, _ others: [JSONValue.Member], at location: ManifestProblem.Location
  ) -> JSONValue? {
    if mistakenMetadata == nil, let word = given?.string, MetadataPolicy(rawValue: word) != nil {
      mistakenMetadata = (location.field("metadata"), word)
    }
    if others.isEmpty { return given ?? defaults.metadata }
    guard let given else { return .object(others) }
    guard case .object(let members) = given else {
      let message = "\"metadata\" must be an object, not \(given.kind): what is no field is added to it"
      report(.wrongType, message, at: location.field("metadata"))
      return nil
    }
    let keys = Set(members.map(\.key))
    for other in others where keys.contains(other.key) {
      let message = "\"metadata\" has the key \"\(other.key)\", which stands beside it, too"
      report(.badValue, message, at: location.field("metadata"))
    }
    return .object(members + others)
  }

  private mutating func requestFields(
    _ members: [JSONValue.Member], at location: ManifestProblem.Location
  ) -> RequestFields {
    do throws(RequestFields.Problem) {
      return try RequestFields(members)
    } catch {
      report(error.code, error.message, at: location.field(error.field))
      return RequestFields()
    }
  }

  private mutating func request(_ fields: RequestFields, at location: ManifestProblem.Location) -> SourceRequest {
    do throws(RequestFields.Problem) {
      return try fields.request(defaults: defaults.request)
    } catch {
      report(error.code, error.message, at: location.field(error.field))
      return .plain
    }
  }

  mutating func text(_ value: JSONValue?, field: String, at location: ManifestProblem.Location) -> String? {
    switch value {
    case nil: return nil
    case .string(let text):
      guard text.utf8.contains(0) else { return text }
      report(.badValue, "\"\(field)\" holds U+0000", at: location.field(field))
      return nil
    case let value?:
      report(.wrongType, "\"\(field)\" must be a string, not \(value.kind)", at: location.field(field))
      return nil
    }
  }

  mutating func report(_ code: ManifestProblem.Code, _ message: String, at location: ManifestProblem.Location) {
    problems.append(ManifestProblem(code, message, at: location))
  }
}

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

  /// A cache of recipes, of limited size. Most manifests have few.
  private(set) var recipes: [String: Recipe] = [:]

  /// The first `metadata` that is a value of `--metadata`. It is no setting, but data for the report.
  private(set) var mistakenMetadata: (location: ManifestProblem.Location, value: String)?

  private var unknownFields = UnknownFields()

  /// The most recipes that are cached. When it is reached, the cache is emptied.
  static let recipeLimit = 256

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
  private mutating func redacted(_ name: String?) -> String? {
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

  /// The most URLs that an entry may have.
  static let mirrorLimit = 64

  /// The URL, or the mirrors in their order; empty when there is a problem.
  private mutating func urls(_ value: JSONValue?, at location: ManifestProblem.Location) -> [String] {
    switch value {
    case .string(let url): return [Self.trimmed(url)]
    case .array([]): report(.badValue, "an array of mirrors needs a URL", at: location.field("url"))
    case .array(let values):
      if let other = values.firstIndex(where: { $0.string == nil }) {
        let message = "mirrors must be strings; number \(other + 1) is \(values[other].kind)"
        report(.wrongType, message, at: location.field("url"))
      } else if values.count > Self.mirrorLimit {
        let message = "an entry may have \(Self.mirrorLimit) mirrors; this one has \(values.count)"
        report(.badValue, message, at: location.field("url"))
      } else {
        return values.compactMap { $0.string.map(Self.trimmed) }
      }
    case nil: report(.badValue, "an entry needs a \"url\"", at: location)
    case let value?:
      let message = "\"url\" must be a string or an array of strings, not \(value.kind)"
      report(.wrongType, message, at: location.field("url"))
    }
    return []
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

  /// A web URL without white space and invisible characters at its ends, which come with a text that is copied from a page.
  private static func withoutInvisible(_ url: String) -> String {
    let isKept = { (scalar: Unicode.Scalar) in !scalar.properties.isWhitespace && !invisible.contains(scalar) }
    let begun = url.unicodeScalars.drop { !isKept($0) }
    guard let end = begun.lastIndex(where: isKept), String(begun.prefix(4)).lowercased() == "http" else { return url }
    return String(begun[...end])
  }

  /// Zero-width space, marks of direction, word joiner, byte-order mark.
  private static let invisible: Set<Unicode.Scalar> = ["\u{200b}", "\u{200e}", "\u{200f}", "\u{2060}", "\u{feff}"]

  /// A URL without ASCII white space at its ends, as browsers read it (WHATWG URL): a space before the scheme must not
  /// make it a path. Other control characters are kept and fail the entry, since NUL bytes indicate a damaged file.
  private static func trimmed(_ given: String) -> String {
    guard let first = given.utf8.first, let last = given.utf8.last else { return given }
    let url = first >= 0x80 || last >= 0x80 ? withoutInvisible(given) : given
    guard first <= 0x20 || last <= 0x20 else { return url }
    let bytes = url.utf8
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0d).contains($0) && $0 != 0x0b }
    let begun = bytes.drop(while: isBlank)
    let end = begun.lastIndex { !isBlank($0) }.map(begun.index(after:)) ?? begun.startIndex
    return String(begun[..<end]) ?? url
  }

  private mutating func text(_ value: JSONValue?, field: String, at location: ManifestProblem.Location) -> String? {
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

  /// The longest `cache-key`, in bytes.
  static let keyLimit = 1024

  private mutating func cacheKey(_ value: JSONValue?, at location: ManifestProblem.Location) -> String? {
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
  private mutating func dependencies(_ value: JSONValue, at location: ManifestProblem.Location) -> [String] {
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

  /// The variants of an entry, which inherit the recipe and options of `defaults`. Invalid ones are reported.
  private mutating func readVariants(_ value: JSONValue, at location: ManifestProblem.Location) -> [EntryVariant] {
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

  private mutating func readVariant(
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

  private mutating func checksum(_ value: JSONValue?, at location: ManifestProblem.Location) -> Checksum? {
    guard let text = text(value, field: "checksum", at: location) else { return nil }
    do {
      return try Checksum(parsing: text)
    } catch {
      report(.badValue, error.message, at: location.field("checksum"))
      return nil
    }
  }

  private mutating func recipe(_ value: JSONValue?, at location: ManifestProblem.Location) -> Recipe {
    guard let text = text(value, field: "filters", at: location) else { return defaults.recipe }
    if let known = recipes[text] { return known }
    do {
      let recipe = try Recipe(parsing: text, named: defaults.recipes)
      if recipes.count >= Self.recipeLimit { recipes.removeAll(keepingCapacity: true) }
      recipes[text] = recipe
      return recipe
    } catch {
      report(.badRecipe, error.description, at: location.field("filters"))
      return defaults.recipe
    }
  }

  private mutating func options(_ value: JSONValue, at location: ManifestProblem.Location) -> OutputOptions {
    var options = defaults.options
    if let format = text(value["format"], field: "format", at: location) {
      switch OutputFormatName(rawValue: format) {
      case let name?: options.format = name.format
      case nil:
        let known = OutputFormatName.allCases.map(\.rawValue)
        report(.badValue, NearestName.unknown("format", format, among: known), at: location.field("format"))
      }
    }
    switch value["quality"] {
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

  private mutating func priority(_ value: JSONValue?, at location: ManifestProblem.Location) -> Entry.Priority {
    guard let text = text(value, field: "priority", at: location) else { return defaults.priority }
    if let priority = Entry.Priority(rawValue: text) { return priority }
    let known = Entry.Priority.allCases.map(\.rawValue)
    report(.badValue, NearestName.unknown("priority", text, among: known), at: location.field("priority"))
    return defaults.priority
  }

  private mutating func report(_ code: ManifestProblem.Code, _ message: String, at location: ManifestProblem.Location) {
    problems.append(ManifestProblem(code, message, at: location))
  }
}

extension Entry {
  /// - Parameters:
  ///   - name: The name that the manifest gives, by a field or a key; nil to derive one from the URL.
  ///   - given: The output for that name.
  ///   - line: The line of an entry in a table or a list, after which one without URL is named.
  fileprivate init(
    position: Int, urls: [String], request: SourceRequest, key: String? = nil, named name: String?,
    _ given: OutputName?, base: String?, line: Int?,
    recipe: Recipe, options: OutputOptions, priority: Priority, checksum: Checksum?, metadata: JSONValue?
  ) {
    // The URL is only parsed for derived names.
    let location = given == nil ? urls.first.flatMap { try? SourceLocation(parsing: $0) } : nil
    // A row without URL must be found in its table, and is no request that could have had a name in the last run.
    let unnamed = urls.first == "" ? line.map { "line-\($0)" } : nil
    let safe = given?.path ?? unnamed ?? OutputName.derived(from: location, in: base)
    let hasRequest = given == nil && unnamed == nil
    let digest = hasRequest ? RequestDigest.digest(of: urls.first ?? "", location, request, key: key) : nil
    self.init(
      position: position, urls: urls, request: request, key: key, name: safe,
      originalName: name.flatMap { $0 == safe ? nil : $0 },
      isNameExplicit: name != nil, requestDigest: digest, isNameReplaced: given?.replacedClaim != nil, recipe: recipe,
      options: options, priority: priority, checksum: checksum, metadata: metadata)
  }
}

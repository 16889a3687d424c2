import JobIndex
import JSON
import Manifests
import Transfer

/// Writes the entries of an accepted manifest as entries of a JSON Lines manifest: what a manifest's `defaults` add stands in each,
/// and names are given, so that each means the same in any manifest. Members whose keys begin with `_` are left out.
package struct ResolvedEntries {
  private var defaults: [JSONValue.Member] = []

  /// The metadata of entries that have none.
  private var metadata: JSONValue?

  package init() {}

  /// Takes the `defaults` of the manifest.
  package mutating func adopt(defaults value: JSONValue) {
    guard case .object(let members) = value else { return }
    defaults = members.filter { Self.isSetting($0.key) }
    metadata = Self.metadata(members)
  }

  /// - Parameters:
  ///   - value: A string or an object of entry fields, as `ManifestContent` passes it on.
  ///   - key: Its name in a dictionary; nil in a list.
  ///   - name: Its final name, without that of a variant.
  ///   - after: The final names of the entries that it comes after.
  ///   - notes: Members that readers of manifests ignore: their keys begin with `_`.
  package func entry(
    _ value: JSONValue, key: String?, named name: String, after: [String], notes: [JSONValue.Member]
  ) -> JSONValue {
    let members: [JSONValue.Member] = if case .object(let members) = value { members } else { [.init("url", value)] }
    let own = members.filter { Self.isSetting($0.key) && $0.key != "name" && $0.key != "after" }
    var written = notes + [.init("name", .string(Self.shown(value["name"]?.string ?? key, for: name)))] + own
    if !after.isEmpty { written.append(.init("after", .array(after.map(JSONValue.string)))) }
    written += inherited(by: own)
    if let metadata = Self.metadata(members) ?? metadata { written.append(.init("metadata", metadata)) }
    return .object(written)
  }

  /// Why an entry that is valid in the manifest would not be the same in a shard; nil when it would.
  /// - Parameters:
  ///   - text: The entry as it is written.
  ///   - name: Its final name.
  package static func problem(
    with entry: JSONValue, _ text: String, named name: String, at location: ManifestProblem.Location
  ) -> ManifestProblem? {
    if text.utf8.count > ManifestFile.lineLimit {
      let message =
        "as a line of a shard, with the manifest's defaults, the entry has \(text.utf8.count) bytes; the limit is "
        + "\(ManifestFile.lineLimit)"
      return ManifestProblem(.tooLarge, message, at: location)
    }
    if entry.depth > JSONDocument.depthLimit {
      let message = "as a line of a shard the entry is deeper than \(JSONDocument.depthLimit) arrays and objects"
      return ManifestProblem(.tooDeep, message, at: location)
    }
    if OutputName.explicit(name).path != name {
      let message = "the name \"\(EntryOrigin.shown(name))\" is too long to be numbered: give the entry another"
      return ManifestProblem(.duplicateName, message, at: location)
    }
    return nil
  }

  /// The given name where it leads to the final one, which it does unless that got a number.
  private static func shown(_ given: String?, for name: String) -> String {
    guard let given = given.map(SourceLocation.redacted(name:)), OutputName.explicit(given).path == name else {
      return name
    }
    return given
  }

  /// The defaults that an entry takes, see `RequestFields.request(defaults:)` for those of its request.
  private func inherited(by own: [JSONValue.Member]) -> [JSONValue.Member] {
    if defaults.isEmpty { return [] }
    let keys = Set(own.map(\.key))
    let isGet = own.contains { $0.key == "method" && $0.value == .string("GET") }
    let hasContent = keys.contains("body") || keys.contains("form") || isGet
    return defaults.filter { member in
      switch member.key {
      case "body", "form": !hasContent
      // `ManifestContent` has added them.
      case "variants": false
      default: !keys.contains(member.key)
      }
    }
  }

  /// Whether a member is a field other than `metadata`.
  private static func isSetting(_ key: String) -> Bool { key != "metadata" && EntryReader.fields.contains(key) }

  /// The metadata of an entry or of `defaults`, to which all members that are no fields belong; nil when there is none.
  private static func metadata(_ members: [JSONValue.Member]) -> JSONValue? {
    let given = members.first { $0.key == "metadata" }?.value
    let others = members.filter { !$0.key.hasPrefix("_") && !EntryReader.fields.contains($0.key) }
      .map { JSONValue.Member(SourceLocation.redacted(name: $0.key), $0.value) }
    if others.isEmpty { return given }
    guard case .object(let members)? = given else { return .object(others) }
    return .object(members + others)
  }
}

extension JSONValue {
  /// The arrays and objects around the innermost value, at least 0.
  fileprivate var depth: Int {
    switch self {
    case .array(let values): 1 + (values.map(\.depth).max() ?? 0)
    case .object(let members): 1 + (members.map(\.value.depth).max() ?? 0)
    case .null, .bool, .integer, .number, .string: 0
    }
  }
}

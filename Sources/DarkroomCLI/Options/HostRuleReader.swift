import JSON
import Model
import System

/// Reads the key `hosts` of the configuration file: an object of rules by pattern. Files that rules name are read later,
/// by `HostSecrets`.
struct HostRuleReader {
  let file: String
  let environment: [String: String]

  struct Key: Sendable {
    let name: String
    /// Its meaning, in a line.
    let summary: String
    /// Sets its value. Throws `UsageError` with a message that continues the key.
    fileprivate let apply: @Sendable (inout HostRule, JSONValue, HostRuleReader) throws -> Void

    fileprivate init(
      _ name: String, _ summary: String,
      _ apply: @escaping @Sendable (inout HostRule, JSONValue, HostRuleReader) throws -> Void
    ) {
      self.name = name
      self.summary = summary
      self.apply = apply
    }

    /// A key with the value of an option.
    fileprivate init<Value>(
      _ name: String, _ setting: WritableKeyPath<HostRule, Value?> & Sendable, _ value: OptionValue<Value>,
      _ summary: String
    ) {
      self.init(name, summary) { rule, json, _ in
        guard let text = json.optionText else { throw UsageError("must be a number or a string") }
        rule[keyPath: setting] = try value.parse(text)
      }
    }
  }

  static func isKey(_ name: String) -> Bool { keys.contains { $0.name == name } }

  /// The keys of a rule.
  static let keys = [
    Key("per-host", \.perHost, .whole(1...1024), "downloads at once from the host"),
    // More than a day is a mistake: the host would almost never be asked.
    Key("interval", \.interval, .seconds(from: 0, to: 86_400), "minimum seconds between the requests of two entries"),
    Key("max-rate", \.settings.maxRate, .rate, "bytes per second of all downloads from the host together"),
    Key("connect-timeout", \.settings.connectTimeout, .seconds(from: 0.001), "as --connect-timeout"),
    Key("first-byte-timeout", \.settings.firstByteTimeout, .seconds(from: 0.001), "as --first-byte-timeout"),
    Key("timeout", \.settings.timeout, .seconds(from: 0.001), "as --timeout"),
    Key("headers-file", "a file with header lines that are sent only to this host; private to its owner") {
      rule, json, reader in
      guard let path = json.string, !path.isEmpty else { throw UsageError("must be the name of a file") }
      rule.headersFile = ConfigFile.resolved(path, in: reader.file)
    },
    Key("netrc", "true, or a file: the host's name and password are in that netrc file") { rule, json, reader in
      switch json {
      case .bool(let isOn): rule.netrcFile = isOn ? try reader.standardNetrc() : nil
      case .string(let path) where !path.isEmpty: rule.netrcFile = ConfigFile.resolved(path, in: reader.file)
      default: throw UsageError("must be true, false or the name of a file")
      }
    },
  ]

  /// The rules in a value of the key `hosts`.
  /// - Throws: `UsageError` that names the file, the pattern and the key.
  func rules(_ value: JSONValue) throws -> HostRules {
    guard case .object(let members) = value else {
      throw UsageError("\(file): \"hosts\" must be an object of rules by host")
    }
    var rules = HostRules()
    for member in members where !member.key.hasPrefix("_") {
      let location = "\(file): \"hosts\": \"\(member.key)\""
      if let other = rules.add(try rule(member, at: location)) {
        throw UsageError("\(location) is for the same hosts as \"\(other)\"")
      }
    }
    return rules
  }

  private func rule(_ member: JSONValue.Member, at location: String) throws -> HostRule {
    let pattern: HostPattern
    do throws(ParseError) {
      pattern = try HostPattern(parsing: member.key)
    } catch {
      throw UsageError("\(location) \(error.message)")
    }
    guard case .object(let settings) = member.value else { throw UsageError("\(location) must be an object") }
    var rule = HostRule(pattern)
    for setting in settings where !setting.key.hasPrefix("_") {
      guard let key = Self.keys.first(where: { $0.name == setting.key }) else {
        let isForAll = OptionTable.general.contains { $0.name == setting.key && $0.name != "config" }
        let error =
          isForAll
          ? UsageError("\"\(setting.key)\" is not a key of a rule, but of the file, for all hosts")
          : UsageError.unknown("key", setting.key, among: Self.keys.map(\.name))
        throw UsageError("\(location): \(error)")
      }
      do {
        if pattern.port != nil, ["per-host", "interval", "max-rate"].contains(key.name) {
          throw UsageError("is not allowed in a rule with a port: give it in a rule without one")
        }
        try key.apply(&rule, setting.value, self)
      } catch let error as UsageError {
        throw UsageError("\(location): \"\(key.name)\" \(error)")
      }
    }
    return rule
  }

  /// The file that curl would use.
  private func standardNetrc() throws -> String {
    if let named = environment["NETRC"], !named.isEmpty { return named }
    guard let home = environment["HOME"], !home.isEmpty else {
      throw UsageError("must be the name of a file, because neither NETRC nor HOME is set")
    }
    return home + "/.netrc"
  }
}

extension JSONValue {
  /// A string, or a number in the form of an option; nil for other values.
  var optionText: String? {
    switch self {
    case .string(let text): text
    case .integer(let number): String(number)
    case .number(let number): String(number)
    default: nil
    }
  }
}

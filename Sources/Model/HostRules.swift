import Scheduling
import System
import Transfer

/// The rules for hosts. For each host one of them holds: that for the host itself, else that of the longest pattern, and of
/// two for the same hosts the one that has the port. Rules are not merged, so that one line of the file tells what is sent.
package struct HostRules: Sendable, Equatable {
  private var rules: [Key: HostRule] = [:]

  /// What a reader of the rules should know, a line each.
  package var warnings: [String] = []

  private struct Key: Hashable {
    let name: String
    let port: Int?
  }

  package init() {}

  package var isEmpty: Bool { rules.isEmpty }

  /// The patterns of all rules, sorted.
  package var patterns: [String] { rules.values.map(\.pattern.description).sorted() }

  /// The most downloads at once that a rule allows.
  package var mostPerHost: Int? { rules.values.compactMap(\.perHost).max() }

  /// Adds a rule.
  /// - Returns: The pattern of another rule for the same hosts, which it would replace; nil when it was added.
  package mutating func add(_ rule: HostRule) -> HostPattern? {
    let key = Key(name: rule.pattern.name, port: rule.pattern.port)
    if let other = rules[key] { return other.pattern }
    rules[key] = rule
    return nil
  }

  package func mapped(_ change: (HostRule) throws -> HostRule) rethrows -> HostRules {
    var changed = self
    changed.rules = try rules.mapValues(change)
    return changed
  }

  // MARK: Matching

  /// The rule for a location; nil without one. The rate, which is a host's whatever the port, is that of the rule that holds
  /// without one.
  package func rule(for location: SourceLocation) -> HostRule? {
    guard !isEmpty, let host = location.canonicalHost, var rule = rule(forHost: host, port: location.port)
    else { return nil }
    if rule.pattern.port != nil { rule.settings.maxRate = self.rule(forHost: host, port: nil)?.settings.maxRate }
    return rule
  }

  /// - Parameters:
  ///   - host: In its canonical form.
  ///   - port: nil for no particular one.
  func rule(forHost host: String, port: Int?) -> HostRule? {
    for name in HostPattern.candidates(host) {
      if let port, let rule = rules[Key(name: name, port: port)] { return rule }
      if let rule = rules[Key(name: name, port: nil)] { return rule }
    }
    return nil
  }

  /// What the scheduler allows at a host.
  /// - Parameter name: As `SourceLocation.hostName` returns it.
  package func allowance(ofHost name: String) -> HostAllowance {
    guard !isEmpty, let host = SourceLocation.canonicalHost(of: name) else { return .standard }
    return rule(forHost: host, port: SourceLocation.port(ofHostName: name))?.allowance ?? .standard
  }

  /// The patterns of the rules that hold for a host: one for all ports, and those of single ones.
  /// - Parameter name: As `SourceLocation.hostName` returns it.
  package func patterns(ofHost name: String) -> [String] {
    guard !isEmpty, let host = SourceLocation.canonicalHost(of: name) else { return [] }
    let ports = Set(rules.keys.compactMap(\.port)).sorted()
    let common = rule(forHost: host, port: nil)
    let special = ports.compactMap { rule(forHost: host, port: $0) }.filter { $0.pattern.port != nil }
    return ([common].compactMap { $0 } + special).map(\.pattern.description)
  }
}

/// What the operator wants to be done otherwise at some hosts.
package struct HostRule: Sendable, Equatable {
  /// The hosts.
  package let pattern: HostPattern

  /// Downloads at once from each of them, 1 to 1024. Default: nil, as at any host.
  package var perHost: Int?

  /// The least time between the requests of two entries to the same host, in seconds. Default: nil, none.
  package var interval: Double?

  /// The file of header fields that are sent to them. Default: nil, none.
  package var headersFile: String?

  /// The file of user names and passwords, in the format of ftp's `.netrc`. Default: nil, none.
  package var netrcFile: String?

  /// What differs for their transfers; its header fields, user names and passwords come from the files. Default: nothing.
  package var settings = HostSettings()

  /// A digest of the secrets that are sent; nil without any. Answers to requests with others may differ.
  package var secrets: String?

  package init(_ pattern: HostPattern) { self.pattern = pattern }

  /// What the scheduler needs of it.
  var allowance: HostAllowance {
    HostAllowance(downloads: perHost, interval: Int(((interval ?? 0) * 1000).rounded(.up)))
  }
}

import Scheduling
import Transfer

/// The rules for hosts. One rule applies to each host: the rule for the host itself, else the one with the longest
/// pattern; of two patterns for the same hosts, the one with the port. Rules are not merged, so that one line of the
/// file shows everything that is sent.
package struct HostRules: Sendable, Equatable {
  private var rules: [Key: HostRule] = [:]

  /// Warnings about the rules, one line each.
  package var warnings: [String] = []

  private struct Key: Hashable {
    let name: String
    let port: Int?
  }

  package init() {}

  package var isEmpty: Bool { rules.isEmpty }

  /// The names of the hosts that have rules of their own, sorted.
  package var names: [String] {
    Set(rules.keys.map(\.name)).filter { !$0.contains("*") && !$0.hasPrefix(".") }.sorted()
  }

  /// The patterns of the rules that send header fields or passwords, in their canonical form, sorted.
  package var patternsWithSecrets: [String] {
    rules.filter { $1.headersFile != nil || $1.netrcFile != nil }
      .map { key, _ in key.name + (key.port.map { ":\($0)" } ?? "") }.sorted()
  }

  /// The most downloads at once that a rule allows.
  package var mostPerHost: Int? { rules.values.compactMap(\.perHost).max() }

  /// Adds a rule.
  /// - Returns: The pattern of an existing rule for the same hosts; nil when the rule was added.
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

  /// Limits a host to a share of what it allows: its downloads at once, its rate, and the time between requests. A rule that allows
  /// fewer downloads stays; other settings do, too.
  /// - Parameters:
  ///   - original: The rules before any host was limited.
  ///   - origin: As `SourceLocation.origin(of:)` returns it.
  ///   - downloads: The downloads at once of this share.
  ///   - total: Those of all shares.
  package mutating func limit(_ origin: String, to downloads: Int, of total: Int, from original: HostRules) {
    guard let pattern = Self.pattern(of: origin) else { return }
    let known = original.rule(forHost: pattern.name, port: pattern.port).map {
      original.complete($0, forHost: pattern.name)
    }
    var rule = HostRule(pattern, like: known ?? HostRule(pattern))
    rule.perHost = min(rule.perHost ?? downloads, downloads)
    let share = Double(downloads) / Double(max(total, downloads))
    rule.interval = rule.interval.map { $0 / share }
    rule.settings.maxRate = rule.settings.maxRate.map { max(1, Int(Double($0) * share)) }
    rules[Key(name: pattern.name, port: pattern.port)] = rule
  }

  /// The pattern for one host; for all ports of a name, if there is no scheme, as in the plans of shards of earlier versions.
  private static func pattern(of origin: String) -> HostPattern? {
    guard origin.contains("://") else { return try? HostPattern(parsing: origin) }
    guard let location = try? SourceLocation(origin: origin), let host = location.canonicalHost,
      let port = location.port
    else { return nil }
    return try? HostPattern(parsing: "\(host):\(port)")
  }

  // MARK: Matching

  /// The rule for a location; nil when there is none.
  package func rule(for location: SourceLocation) -> HostRule? {
    guard !isEmpty, let host = location.canonicalHost else { return nil }
    return rule(forHost: host, port: location.port).map { complete($0, forHost: host) }
  }

  /// Adds to a rule with a port what such rules cannot say, from the rule of the same host without one.
  private func complete(_ rule: HostRule, forHost host: String) -> HostRule {
    guard rule.pattern.port != nil, let common = self.rule(forHost: host, port: nil) else { return rule }
    var rule = rule
    rule.perHost = rule.perHost ?? common.perHost
    rule.interval = rule.interval ?? common.interval
    rule.settings.maxRate = rule.settings.maxRate ?? common.settings.maxRate
    return rule
  }

  /// - Parameters:
  ///   - host: In its canonical form.
  ///   - port: nil for all ports.
  func rule(forHost host: String, port: Int?) -> HostRule? {
    for name in HostPattern.candidates(host) {
      if let port, let rule = rules[Key(name: name, port: port)] { return rule }
      if let rule = rules[Key(name: name, port: nil)] { return rule }
    }
    return nil
  }

  /// The scheduler's limits for a host.
  /// - Parameter origin: As `SourceLocation.origin(of:)` returns it.
  package func allowance(of origin: String) -> HostAllowance {
    guard !isEmpty, let location = try? SourceLocation(origin: origin) else { return .standard }
    return rule(for: location)?.allowance ?? .standard
  }

  /// The pattern of the rule for a host; after one with a port, that of the rule which completes it.
  /// - Parameter origin: As `SourceLocation.origin(of:)` returns it.
  package func patterns(of origin: String) -> [String] {
    guard !isEmpty, let location = try? SourceLocation(origin: origin), let host = location.canonicalHost,
      let rule = rule(forHost: host, port: location.port)
    else { return [] }
    let common = rule.pattern.port == nil ? nil : self.rule(forHost: host, port: nil)
    return [rule.pattern.description] + (common.map { [$0.pattern.description] } ?? [])
  }
}

/// The operator's settings for some hosts.
package struct HostRule: Sendable, Equatable {
  /// The hosts to which it applies.
  package let pattern: HostPattern

  /// Downloads at once from each host, 1 to 1024. Default: nil, the general limit.
  package var perHost: Int?

  /// The least time between requests of two entries to the same host, in seconds. Default: nil, none.
  package var interval: Double?

  /// The file with additional header fields. Default: nil, none.
  package var headersFile: String?

  /// The file with user names and passwords, in the format of `.netrc`. Default: nil, none.
  package var netrcFile: String?

  /// The settings of transfers. Header fields, user names and passwords are read from the files. Default: none.
  package var settings = HostSettings()

  /// A digest of the secrets that are sent; nil when there are none. Servers may answer differently to other secrets.
  package var secrets: String?

  package init(_ pattern: HostPattern) { self.pattern = pattern }

  /// A rule for other hosts with the same settings.
  init(_ pattern: HostPattern, like other: HostRule) {
    self.init(pattern)
    (perHost, interval, headersFile, netrcFile) = (other.perHost, other.interval, other.headersFile, other.netrcFile)
    (settings, secrets) = (other.settings, other.secrets)
  }

  /// The part of the rule that concerns the scheduler.
  var allowance: HostAllowance {
    HostAllowance(downloads: perHost, interval: Int(((interval ?? 0) * 1000).rounded(.up)))
  }
}

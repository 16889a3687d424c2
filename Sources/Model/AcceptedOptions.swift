import Transfer

/// The options without which the entries of a job would fail: a process that lacks them does not work on it.
package struct AcceptedOptions: Sendable, Equatable, Codable {
  /// Networks of `--allow-net`.
  package var networks: [String]?

  /// The folder of `--file-root`.
  package var fileRoot: String?

  /// Patterns of the rules for hosts.
  package var hosts: [String]?

  /// - Returns: nil when none of the options is set.
  package init?(_ configuration: Configuration) {
    let networks = configuration.transfer.addressPolicy.allowedNetworks.map(\.description)
    let hosts = configuration.hosts.patterns
    fileRoot = configuration.transfer.fileRoot
    self.networks = networks.isEmpty ? nil : networks
    self.hosts = hosts.isEmpty ? nil : hosts
    if networks.isEmpty, hosts.isEmpty, fileRoot == nil { return nil }
  }

  /// Those that another configuration does not cover, as they are written: a wider network or a folder above covers one, and
  /// for a host any rule with the same pattern.
  package func missing(in configuration: Configuration) -> [String] {
    let allowed = configuration.transfer.addressPolicy.allowedNetworks
    let networks = (networks ?? []).filter { text in
      guard let network = try? Network(parsing: text) else { return false }
      return !allowed.contains { $0.contains(network) }
    }
    let root = configuration.transfer.fileRoot.map { $0.hasSuffix("/") ? $0 : $0 + "/" }
    let fileRoot = fileRoot.flatMap { folder in root.map { (folder + "/").hasPrefix($0) } == true ? nil : folder }
    let hosts = Set(hosts ?? []).subtracting(configuration.hosts.patterns).sorted()
    return networks.map { "--allow-net \($0)" } + (fileRoot.map { ["--file-root \($0)"] } ?? [])
      + hosts.map { "a rule for host \($0)" }
  }
}

import Transfer

/// The options of a job's acceptance without which entries may fail that have not failed before: a process that lacks one does
/// not work on the job.
package struct AcceptedOptions: Sendable, Equatable {
  /// The networks of `--allow-net`.
  let networks: [String]

  /// The folder of `--file-root`; nil when it was not given.
  let fileRoot: String?

  /// The patterns of the rules for hosts that send header fields or passwords.
  let hosts: [String]

  /// Those of the acceptance of a job.
  package init(of manifest: JobManifest) {
    networks = manifest.networks?.split(separator: " ").map(String.init) ?? []
    fileRoot = manifest.fileRoot
    hosts = manifest.hostRules?.split(separator: " ").map(String.init) ?? []
  }

  /// Those that another configuration does not cover, as they are written: a wider network covers one, and for a host any rule
  /// with the same pattern. The folder must be the same, since paths are relative to it.
  package func missing(in configuration: Configuration) -> [String] {
    let allowed = configuration.transfer.addressPolicy.allowedNetworks
    let networks = networks.filter { text in
      guard let network = try? Network(parsing: text) else { return false }
      return !allowed.contains { $0.contains(network) }
    }
    let fileRoot = fileRoot.flatMap { $0 == configuration.transfer.fileRoot ? nil : $0 }
    let hosts = Set(hosts).subtracting(configuration.hosts.patternsWithSecrets).sorted()
    return networks.map { "--allow-net \($0)" } + (fileRoot.map { ["--file-root \($0)"] } ?? [])
      + hosts.map { "a rule for host \($0)" }
  }
}

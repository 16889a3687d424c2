import Scheduling
import Testing
import Transfer

@testable import Model

@Suite struct AcceptedOptionsTests {
  private static func configuration(_ networks: [String], _ root: String?, _ hosts: [String]) throws -> Configuration {
    var configuration = Configuration()
    configuration.transfer.addressPolicy.allowedNetworks = try networks.map { try Network(parsing: $0) }
    configuration.transfer.fileRoot = root
    for host in hosts + ["slow.example"] {
      var rule = HostRule(try HostPattern(parsing: host))
      if host == "slow.example" { rule.interval = 1 } else { rule.headersFile = "/headers" }
      #expect(configuration.hosts.add(rule) == nil)
    }
    return configuration
  }

  /// The options of a manifest that was accepted and read back.
  private static func options(_ networks: [String], _ root: String?, _ hosts: [String]) throws -> AcceptedOptions {
    let manifest = JobManifest(
      file: "a.txt", format: "txt", sha256: "", inboxPath: nil, identity: "", accepted: 0,
      configuration: try configuration(networks, root, hosts))
    return AcceptedOptions(of: try JobManifest(text: manifest.text))
  }

  @Test(
    arguments: [
      (["127.0.0.0/8"], nil, [], []), (["0.0.0.0/0"], nil, [], []),
      (["127.0.0.0/9"], nil, [], ["--allow-net 127.0.0.0/8"]), ([], "/pictures", [], ["--allow-net 127.0.0.0/8"]),
    ] as [([String], String?, [String], [String])])
  func `a wider network covers one`(networks: [String], root: String?, hosts: [String], missing: [String]) throws {
    let options = try Self.options(["127.0.0.0/8"], nil, [])
    #expect(options.missing(in: try Self.configuration(networks, root, hosts)) == missing)
  }

  @Test(
    arguments: [
      ("/pictures/2026", []), ("/pictures", ["--file-root /pictures/2026"]), ("/", ["--file-root /pictures/2026"]),
      ("/pictures/2", ["--file-root /pictures/2026"]),
      ("/pictures/2026/june", ["--file-root /pictures/2026"]), (nil, ["--file-root /pictures/2026"]),
    ] as [(String?, [String])])
  func `only the same folder covers one, since paths are relative to it`(root: String?, missing: [String]) throws {
    let options = try Self.options([], "/pictures/2026", [])
    #expect(options.missing(in: try Self.configuration([], root, [])) == missing)
  }

  @Test func `a rule with the same pattern covers one, and what needs nothing is covered`() throws {
    let options = try Self.options([], nil, ["*.example.org", "h:81"])
    #expect(options.missing(in: try Self.configuration([], nil, ["H:81", "x"])) == ["a rule for host *.example.org"])
    #expect(try Self.options([], nil, []).missing(in: Configuration()) == [])
  }
}

import Foundation
import JSON
import Testing
import TestSupport

@testable import Model

@Suite struct BottleneckTests {
  @Test(arguments: [
    (
      Bottleneck(.host, name: "a.test", option: "--per-host", limit: 6, share: 0.628),
      "bounded by the limits of hosts (a.test) for 63 % of the time, see --per-host, now 6"
    ),
    (
      Bottleneck(.host, name: "a.test", option: "hosts", share: 1),
      "bounded by the limits of hosts (a.test) for 100 % of the time, see hosts in the configuration file"
    ),
    (Bottleneck(.pause, name: "deploy.lock", share: 0.5), "bounded by pauses (deploy.lock) for 50 % of the time"),
    (Bottleneck(.downloads, limit: 16, share: 0.5), "bounded by the limit of downloads for 50 % of the time"),
  ])
  func `a bottleneck is told in words, with the option that would change it`(bottleneck: Bottleneck, text: String) {
    #expect(bottleneck.description == text)
  }

  @Test func `the schema and the documentation have all causes, and no others`() throws {
    let schema = try JSONValue(
      parsing: String(contentsOfFile: packageRoot + "/Documentation/report.schema.json", encoding: .utf8))
    guard case .array(let known)? = schema["$defs"]?["bound"]?["properties"]?["cause"]?["enum"] else {
      throw POSIXError(.ENOENT)
    }
    let causes = Bottleneck.Cause.allCases.map(\.rawValue)
    #expect(known.compactMap(\.string) == causes)
    let page = try String(contentsOfFile: packageRoot + "/Documentation/report.md", encoding: .utf8)
    let section = page.components(separatedBy: "\n## ").first { $0.hasPrefix("What bounded the run\n") } ?? ""
    #expect(section.matches(of: /\n\| `([a-z-]+)`/).map { String($0.1) } == causes)
  }
}

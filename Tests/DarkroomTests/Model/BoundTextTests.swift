import Foundation
import JSON
import TestSupport
import Testing

@testable import Darkroom

@Suite struct BoundTextTests {
  static let sentences: [(Bound, String)] = [
    (
      Bound(.host, name: "a.test", option: "--per-host", limit: 6),
      "bounded by a.test's limit of 6 downloads (63 % of the time): --per-host raises it"
    ),
    (
      Bound(.host, option: "--per-host", limit: 1),
      "bounded by the limits of several hosts, 1 download (63 % of the time): --per-host raises it"
    ),
    (
      Bound(.host, name: "a.test", option: "hosts"),
      "bounded by the interval between requests to a.test (63 % of the time): the rules for hosts in the configuration "
        + "file change it"
    ),
    (Bound(.pause, name: "deploy.lock"), "bounded by the pause by deploy.lock (63 % of the time)"),
    (Bound(.pause, name: "disk"), "bounded by want of disk space (63 % of the time)"),
    (Bound(.processors), "bounded by the processors (63 % of the time)"),
    (
      Bound(.filtrations, option: "--filtrations", limit: 1),
      "bounded by the limit of 1 filtration (63 % of the time): --filtrations raises it"
    ),
    (
      Bound(.downloads, option: "--downloads", limit: 16),
      "bounded by the limit of 16 downloads (63 % of the time): --downloads raises it"
    ),
    (Bound(.downloads, limit: 16), "bounded by the limit of 16 downloads (63 % of the time)"),
    (
      Bound(.rate, option: "--max-rate", limit: 1 << 20),
      "bounded by the limit of 1 MiB per second (63 % of the time): --max-rate raises it"
    ),
    (Bound(.servers, name: "a.test"), "bounded by the speed of a.test (63 % of the time)"),
    (
      Bound(.otherJobs, option: "--jobs"),
      "bounded by other jobs (63 % of the time): --jobs has more of them live at once"
    ),
  ]

  @Test(arguments: sentences) func `a bound is told in words, with what would change it`(bound: Bound, text: String) {
    #expect(BoundedBy(bound, share: 0.628).description == text)
  }

  @Test(arguments: Bound.Cause.allCases) func `each cause has words, with and without a name`(cause: Bound.Cause) {
    for name in [nil, "a.test"] {
      let text = BoundedBy(Bound(cause, name: name), share: 1).description
      #expect(text.hasPrefix("bounded by ") && text.hasSuffix(" (100 % of the time)"))
      #expect(!text.contains("  ") && !text.contains("nil"))
    }
  }

  @Test func `the schema and the documentation have all causes, and no others`() throws {
    let schema = try JSONValue(
      parsing: String(contentsOfFile: packageRoot + "/Documentation/report.schema.json", encoding: .utf8))
    guard case .array(let known)? = schema["$defs"]?["bound"]?["properties"]?["cause"]?["enum"] else {
      throw POSIXError(.ENOENT)
    }
    let causes = Bound.Cause.allCases.map(\.rawValue)
    #expect(known.compactMap(\.string) == causes)
    let page = try String(contentsOfFile: packageRoot + "/Documentation/report.md", encoding: .utf8)
    let section = page.components(separatedBy: "\n## ").first { $0.hasPrefix("What bounded the run\n") } ?? ""
    #expect(section.matches(of: /\n\| `([a-z-]+)`/).map { String($0.1) } == causes)
  }

  @Test func `advice is about the first, and only if that matters`() {
    let disk = BoundedBy(Bound(.disk), share: 0.2)
    #expect(BoundedBy.advice([disk, BoundedBy(Bound(.retry), share: 0.1)]) == disk.description)
    #expect(BoundedBy.advice([BoundedBy(Bound(.disk), share: 0.19)]) == nil)
    #expect(BoundedBy.advice([]) == nil)
  }
}

import Foundation
import Imaging
import JSON
import Planning
import System
import TestSupport
import Testing
import Transfer

@testable import Darkroom
@testable import Model

/// What `shard split` makes of a manifest.
@Suite struct ShardSplitTests {
  private let folder: TemporaryFolder
  private var target: String { folder.file("shards") }

  init() throws { folder = try TemporaryFolder() }

  /// Splits a manifest, which must be accepted.
  @discardableResult
  private func split(
    _ text: String, as file: String = "job.jsonl", count: Int, perHost: Int? = nil, root: String? = nil,
    rules: HostRules = HostRules(), by grouping: ShardPlan.Grouping = .host
  ) throws -> ShardPlan {
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder.file(file)))
    var configuration = Configuration()
    configuration.hosts = rules
    if let perHost { configuration.transfer.perHost = .init(fixed: perHost) }
    configuration.transfer.fileRoot = root
    let outcome = try ShardSplit(configuration: configuration, count: count, by: grouping)
      .split(folder.file(file), job: nil, into: target)
    switch outcome {
    case .divided(let plan, _): return plan
    case .rejected(let result): throw Rejected(problems: result.problems.map { "\($0)" })
    }
  }

  private struct Rejected: Error { let problems: [String] }

  private func lines(_ shard: Int, of job: String = "job") throws -> [JSONValue] {
    try String(contentsOfFile: "\(target)/\(shard)/\(job).jsonl", encoding: .utf8).split(separator: "\n")
      .map { try JSONValue(parsing: String($0)) }
  }

  /// The shard of each entry, by its name.
  private func shards(_ count: Int) throws -> [String: Int] {
    let pairs = try (0..<count).flatMap { shard in try lines(shard).map { ($0["name"]?.string ?? "", shard) } }
    return Dictionary(pairs) { _, _ in -1 }
  }

  // MARK: What an entry means

  private static let variants = #""variants":[{"name":"s","filters":"resize(10 10)"},{"name":"m","quality":9}]"#
  private static let manifests: [(file: String, text: String)] = [
    (
      "all.json",
      #"""
      {"defaults": {"filters": "none", "format": "webp", "quality": 7, "priority": "low", "method": "POST",
                    "headers": {"X-A": "1"}, "body": "b", "metadata": {"m": 1}, "of": "all", "_note": 1},
       "entries": {"plain": "http://a.example/1", "_comment": "no entry",
         "own": {"url": ["http://b.example/2", "http://c.example/2"], "filters": "blur(2px)", "format": "keep",
                 "quality": 50, "priority": "high", "headers": {"X-B": ["2", "3"]}, "form": {"f": "x"}, "metadata": 5,
                 "checksum": "md5=00000000000000000000000000000000", "cache-key": "k"},
         "get": {"url": "http://a.example/3", "method": "GET"}, "titled": {"url": "http://a.example/4", "title": "t"},
         "both": {"url": "http://d.example/4", "title": "t", "metadata": {"u": null}}}}
      """#
    ),
    ("all.json", #"{"defaults": {\#(variants)}, "entries": ["http://a.example/x.jpg", "http://b.example/x.png"]}"#),
    (
      "all.jsonl",
      """
      "http://a.example/x.jpg"
      {"url": "http://b.example/x.png", \(variants)}
      {"url": "http://c.example/x", \(variants)}
      {"url": "http://d.example/y", "name": "a:b"}
      {"url": "http://e.example/y", "name": "a_b"}
      {"url": "http://f.example/y", "name": "ä/ö.jpg"}
      {"url": "http://h.example/nothing/"}
      {"url": "", "_row": 99}
      {"url": "http://user:secret@g.example/z.png"}
      """
    ),
    (
      "all.jsonl",
      """
      {"url": "http://a.example/1.jpg", "name": "one", \(variants)}
      {"url": "http://b.example/2.jpg", "name": "two", "after": ["one"]}
      {"url": "http://c.example/x.jpg"}
      {"url": "http://d.example/x.jpg"}
      {"url": "http://e.example/3.jpg", "name": "three", "after": ["x-2", "TWO"]}
      """
    ),
    ("all.csv", "URL;Name;Titel;quality;after\nhttp://a.example/1;n1;\"a;b\";3;\nhttp://b.example/2;n2;ü;;n1\n"),
    ("all.txt", "http://a.example/1\thttp://b.example/1\n  out=o.png\n  header=X-A: 1\n# no\nhttp://a.example/2\n"),
    (
      "all.plist",
      """
      <?xml version="1.0"?><plist version="1.0"><dict><key>Tulip</key><string>http://a.example/t.jpg</string>
      <key>Rose &amp; co</key><dict><key>url</key><string>http://b.example/r</string><key>quality</key><integer>4</integer></dict>
      </dict></plist>
      """
    ),
  ]

  /// The options of the machine that does a shard are not those of the one that divided the manifest.
  private static var otherDefaults: EntryDefaults {
    get throws { EntryDefaults(recipe: try .init(parsing: "invert()"), options: OutputOptions(quality: 33)) }
  }

  @Test(arguments: manifests, [1, 3])
  func `each entry is in one shard, and means there what it means in the whole manifest`(
    manifest: (file: String, text: String), count: Int
  ) throws {
    let plan = try split(manifest.text, as: manifest.file, count: count)
    let whole = try Planned(manifest.text.utf8, as: manifest.file, defaults: Self.otherDefaults).sound()
    var rows: [Int] = []
    for shard in 0..<count {
      let text = try String(contentsOfFile: "\(target)/\(shard)/all.jsonl", encoding: .utf8)
      let part = try Planned(text.utf8, as: "all.jsonl", defaults: Self.otherDefaults).sound()
      #expect(part.warnings.isEmpty || !whole.warnings.isEmpty, "\(part.warnings)")
      var position = 0
      for line in try lines(shard, of: "all") {
        let first = try #require(line[ShardPlan.rowField]?.integer)
        for row in first..<first + line.rowCount {
          let (mine, theirs) = (part.entries[position], whole.entries[row])
          #expect(mine.meaning == theirs.meaning)
          #expect(part.after[position].count == whole.after[row].count)
          rows.append(row)
          position += 1
        }
      }
      #expect(plan.shards[shard].rows == position)
      #expect(try plan.shards[shard].entries == lines(shard, of: "all").count)
    }
    #expect(rows.sorted() == Array(whole.entries.indices))
  }

  @Test(arguments: [("a:b", "a:b"), ("http://u:p@h/z", "http://h/z")])
  func `the given name is kept without secrets where it leads to the same file`(name: String, kept: String) throws {
    try split(#"{"url": "http://a.example/1", "name": "\#(name)"}"#, count: 1)
    #expect(try lines(0).map { $0["name"]?.string } == [kept])
  }

  @Test func `what is metadata beside a default that an entry does not take is no misspelt field in a shard`() throws {
    let text = #"{"defaults": {"body": "b", "bodys": 1}, "entries": [{"url": "http://a.example/1", "method": "GET"}]}"#
    try split(text, as: "job.json", count: 1)
    let shard = try String(contentsOfFile: target + "/0/job.jsonl", encoding: .utf8)
    #expect(try Planned(shard, as: "job.jsonl").sound().entries.map(\.metadata?.text) == [#"{"bodys":1}"#])
  }

  @Test(arguments: [
    (
      "an entry of more than a mebibyte",
      #"{"url": "http://a.example/1", "metadata": "\#(String(repeating: "x", count: (1 << 20) - 50))"}"#
    ),
    (
      "a long name that would be numbered",
      (0..<2).map { "\"http://a.example/\($0)/\(String(repeating: "n", count: 199)).jpg\"" }.joined(separator: "\n")
    ),
  ])
  func `what would not be the same in a shard rejects the manifest, and leaves nothing`(what: String, text: String)
    throws
  {
    #expect { try split(text, count: 1) } throws: { ($0 as? Rejected)?.problems.count == 1 }
    #expect(try !FileStatus.exists(target) && !FileStatus.exists(target + ".part"))
  }

  @Test func `names are settled once, so that no two shards write the same file`() throws {
    let text = (0..<60).map { "\"http://h\($0).example/cat.jpg\"" }.joined(separator: "\n")
    try split(text, count: 8)
    let names = try shards(8)
    #expect(names.count == 60 && names["cat"] != nil && names["cat-60"] != nil && !names.values.contains(-1))
  }

  // MARK: Hosts

  /// Entries of hosts, so many of each.
  private static func list(_ hosts: [String: Int]) -> String {
    hosts.sorted { $0.key < $1.key }.flatMap { host, count in (0..<count).map { "\"http://\(host)/\(host)-\($0).jpg\"" }
    }
    .joined(separator: "\n")
  }

  @Test func `all entries of a host are in one shard, but those of a large one in its parts`() throws {
    var hosts = Dictionary(uniqueKeysWithValues: (0..<40).map { ("h\($0).example", 20) })
    hosts["big.example"] = 800
    let plan = try split(Self.list(hosts), count: 10, perHost: 4)
    let shards = try shards(10)
    for host in hosts.keys {
      let own = Set(shards.filter { $0.key.hasPrefix(host + "-") }.values)
      #expect(own.count == (host == "big.example" ? 4 : 1), "\(host): \(own)")
    }
    let shared = try #require(plan.shared.first)
    #expect(plan.shared.count == 1 && shared.host == "http://big.example")
    #expect(shared.shares.map(\.downloads) == [1, 1, 1, 1])
    #expect(plan.hosts == 41 && plan.entries == 1600 && plan.perHost == 4)
    #expect(try String(contentsOfFile: target + "/plan.json", encoding: .utf8) == plan.json.text + "\n")
  }

  @Test func `a host over http and over https is in one shard, or cut alike`() throws {
    let both = ["big": 300, "small": 5].flatMap { name, count in
      ["http", "https"].flatMap { scheme in
        (0..<count).map { "\"\(scheme)://\(name).example/\(name)-\(scheme)-\($0).jpg\"" }
      }
    }
    let others = (0..<40).map { "\"http://h\($0).example/h\($0).jpg\"" }
    let plan = try split((both + others).joined(separator: "\n") + "\n", count: 8, perHost: 4)
    let shards = try shards(8)
    #expect(plan.shared.map(\.host) == ["http://big.example", "https://big.example"])
    #expect(plan.shared.allSatisfy { $0.shares == plan.shared[0].shares && $0.shares.count == 4 })
    #expect(Set(shards.filter { $0.key.hasPrefix("small-") }.values).count == 1)
    #expect(Set(shards.filter { $0.key.hasPrefix("big-") }.values).count == 4)
  }

  @Test func `by domain, the hosts of a domain are in one shard, or cut alike, each with its shares`() throws {
    var hosts = Dictionary(
      uniqueKeysWithValues: (0..<40).flatMap { [("a.d\($0).example", 8), ("b.d\($0).example:81", 8)] })
    (hosts["one.big.example"], hosts["two.big.example"]) = (300, 500)
    var rules = HostRules()
    var slow = HostRule(try HostPattern(parsing: "b.d0.example"))
    slow.perHost = 2
    _ = rules.add(slow)
    let plan = try split(Self.list(hosts), count: 10, perHost: 4, rules: rules, by: .domain)
    let shards = try shards(10)
    for number in 0..<40 {
      let own = Set(shards.filter { $0.key.hasPrefix("a.d\(number).") || $0.key.hasPrefix("b.d\(number).") }.values)
      #expect(own.count == 1, "domain \(number): \(own)")
    }
    #expect(plan.shared.map(\.host) == ["http://one.big.example", "http://two.big.example"] && plan.hosts == 82)
    #expect(
      plan.shared.allSatisfy { $0.shares == plan.shared[0].shares && $0.shares.map(\.downloads) == [1, 1, 1, 1] })
    for host in ["one.big.example", "two.big.example"] {
      let own = Set(shards.filter { $0.key.hasPrefix(host) }.values)
      #expect(own == Set(plan.shared[0].shares.map(\.shard)), "\(host): \(own)")
    }
    #expect(try ShardPlan(JSONValue(parsing: plan.json.text)) == plan)
  }

  @Test(arguments: [0, -1, 1025, Int.max])
  func `a plan with shares of downloads that no option allows is no plan`(downloads: Int) throws {
    let text = try split(Self.list(["a.example": 100]), count: 4, perHost: 4, rules: HostRules()).json.text
    let changed = text.replacing(#""downloads":1}"#, with: #""downloads":\#(downloads)}"#, maxReplacements: 1)
    #expect(changed != text)
    #expect(try ShardPlan(JSONValue(parsing: changed)) == nil)
    let most = text.replacing(#""downloads":1}"#, with: #""downloads":1024}"#)
    #expect(try ShardPlan(JSONValue(parsing: most))?.shared.first?.shares.first?.downloads == 1024)
  }

  @Test func `a rule for a host decides into how many parts it may be cut`() throws {
    var rules = HostRules()
    var (few, slow) = (
      HostRule(try HostPattern(parsing: "few.example")), HostRule(try HostPattern(parsing: "slow.example"))
    )
    (few.perHost, slow.interval) = (2, 1)
    for rule in [few, slow] { _ = rules.add(rule) }
    let plan = try split(
      Self.list(["few.example": 100, "slow.example": 100, "slow.example:8080": 100, "free.example": 100]), count: 8,
      perHost: 8, rules: rules)
    let shares = Dictionary(uniqueKeysWithValues: plan.shared.map { ($0.host, $0.shares.map(\.downloads)) })
    #expect(
      shares["http://few.example"] == [1, 1] && (shares["http://free.example"]?.count ?? 0) > 2
        && shares["http://slow.example"] == nil)
    let ofSlow = try shards(8).filter { $0.key.hasPrefix("slow.example") }
    #expect(ofSlow.count == 200 && Set(ofSlow.values).count == 1, "a time between requests is for all ports")
  }

  @Test func `a shard has its share of a host's downloads, rate and time between requests`() throws {
    var rules = HostRules()
    var slow = HostRule(try HostPattern(parsing: "*.example"))
    (slow.perHost, slow.interval, slow.settings.maxRate) = (3, 0.5, 90_000)
    _ = rules.add(slow)
    let plan = try split(Self.list(["slow.example": 300, "other.example": 10]), count: 3, rules: rules)
    #expect(plan.shared.map(\.host) == ["http://slow.example"] && plan.shared[0].shares.map(\.downloads) == [1, 1, 1])
    let shards = try ShardFolder(target)
    for number in 0..<3 {
      var configuration = Configuration(inbox: folder.file("in"), outbox: folder.file("out"))
      configuration.hosts = rules
      let hosts = try ShardRun(number, of: shards, configuration, state: nil).configuration.hosts
      let (own, other) = (
        hosts.rule(for: try SourceLocation(parsing: "http://slow.example/")),
        hosts.rule(for: try SourceLocation(parsing: "http://other.example/"))
      )
      #expect(own?.perHost == 1 && own?.interval == 1.5 && own?.settings.maxRate == 30_000)
      #expect(other?.perHost == 3 && other?.interval == 0.5 && other?.settings.maxRate == 90_000)
    }
  }

  @Test func `a file that is tied to a host is in its shard, and no other file`() throws {
    let files = (0..<300).map { #"{"url": "in/\#($0).jpg", "name": "f\#($0)"}"# }
    let tied = [
      #"{"url": "http://a.example/", "name": "a", "after": ["f0"]}"#,
      #"{"url": "in/x.jpg", "name": "x", "after": ["a"]}"#,
      #"{"url": "http://b.example/", "name": "b", "after": ["x"]}"#,
    ]
    try split((files + tied).joined(separator: "\n"), count: 4)
    let shards = try shards(4)
    #expect(Set(["f0", "a", "x", "b"].map { shards[$0] }).count == 1)
    let sizes = try (0..<4).map { try lines($0).count }
    #expect(sizes.allSatisfy { (50...100).contains($0) }, "\(sizes)")
    #expect(Set(shards.values).count == 4)
  }

  @Test func `files of the machine have no host's limit, and are in all shards`() throws {
    try split((0..<500).map { "\"pictures/\($0).jpg\"" }.joined(separator: "\n"), count: 5)
    let sizes = try (0..<5).map { try lines($0).count }
    #expect(sizes.allSatisfy { (60...140).contains($0) }, "\(sizes)")
  }

  @Test func `entries tied by after are in one shard, also those of a host that is cut`() throws {
    var text = ""
    for number in 0..<200 {
      text += #"{"url": "http://big.example/\#(number)a", "name": "a\#(number)"}"# + "\n"
      text += #"{"url": "http://big.example/\#(number)b", "name": "b\#(number)", "after": ["a\#(number)"]}"# + "\n"
    }
    text += #"{"url": "http://one.example/", "name": "one"}"# + "\n"
    text += #"{"url": "http://two.example/", "name": "two", "after": "one"}"# + "\n"
    let plan = try split(text, count: 8)
    let shards = try shards(8)
    #expect((0..<200).allSatisfy { shards["a\($0)"] == shards["b\($0)"] })
    #expect(shards["one"] == shards["two"])
    #expect(Set(shards.values).count >= 6 && plan.shared.first?.host == "http://big.example")
  }

  // MARK: The folder

  @Test func `a slash at the end, and a link to an empty folder, name the folder itself`() throws {
    try Data("\"http://a.example/1\"\n".utf8).write(to: URL(fileURLWithPath: folder.file("job.jsonl")))
    try FileManager.default.createDirectory(atPath: folder.file("real"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: "real")
    for name in ["slash///", "link"] {
      _ = try ShardSplit(configuration: Configuration(), count: 1)
        .split(folder.file("job.jsonl"), job: "a:b", into: folder.file(name))
    }
    #expect(try FileStatus.exists(folder.file("slash/plan.json")) && FileStatus.exists(folder.file("real/plan.json")))
    #expect(try Folder.names(in: folder.file("real/0")).map { "\($0)" }.allSatisfy { $0.hasSuffix(".jsonl") })
    #expect(try Set(Folder.names(in: folder.path).map { "\($0)" }) == ["job.jsonl", "slash", "real", "link"])
  }

  @Test func `of two processes one is told so, and removes nothing of the other's`() throws {
    let part = target + ".part"
    try FileManager.default.createDirectory(atPath: part + "/0", withIntermediateDirectories: true)
    let lock = try OpenFolder(part).open(updating: ".split")
    #expect(try lock.lockExclusively())
    #expect { try split("\"http://a.example/1\"", count: 1) } throws: { ($0 as? StopError)?.isBusy == true }
    #expect(try Set(Folder.names(in: part).map { "\($0)" }) == ["0", ".split"])
  }

  @Test func `an empty folder keeps its permissions`() throws {
    try FileManager.default.createDirectory(
      atPath: target, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    try split("\"http://a.example/1\"", count: 1)
    #expect(try FileStatus(of: target).mode & 0o777 == 0o700)
  }

  @Test func `an empty manifest has empty shards`() throws {
    let plan = try split("", count: 2)
    #expect(plan.entries == 0 && plan.hosts == 0)
    #expect(try lines(0).isEmpty && lines(1).isEmpty)
  }

  @Test(arguments: ["notes.txt", ".hidden"])
  func `a folder with anything in it is left alone`(name: String) throws {
    try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
    try Data().write(to: URL(fileURLWithPath: target + "/" + name))
    #expect { try split("\"http://a.example/1\"", count: 2) } throws: { "\($0)".contains("is not empty") }
    #expect(try Set(Folder.names(in: target).map { "\($0)" }) == [name])
    #expect(try !FileStatus.exists(target + ".part"))
  }

  @Test func `what a killed split left is made anew, and what is no split stays`() throws {
    let part = target + ".part"
    try FileManager.default.createDirectory(atPath: part + "/0", withIntermediateDirectories: true)
    try Data("\"http://old.example/\"\n".utf8).write(to: URL(fileURLWithPath: part + "/0/job.jsonl"))
    #expect { try split("\"http://a.example/1\"", count: 1) } throws: { "\($0)".contains("in the way") }
    #expect(try FileStatus.exists(part + "/0/job.jsonl"))
    try Data().write(to: URL(fileURLWithPath: part + "/.split"))
    try split("\"http://a.example/1\"", count: 1)
    #expect(try lines(0).map { $0["url"]?.string } == ["http://a.example/1"])
    #expect(try !FileStatus.exists(part))
    #expect(try Set(Folder.names(in: target).map { "\($0)" }) == ["0", "plan.json"])
  }

  @Test(arguments: [
    (#"{"url": "http://a.example/", "headers": {"X": "1"}}"#, 0o600), (#""http://u:p@a.example/""#, 0o600),
    (#""http://a.example/""#, 0o644),
  ])
  func `manifests with secrets are for their owner alone`(entry: String, mode: Int) throws {
    try split(entry, count: 1)
    #expect(try FileStatus(of: target + "/0/job.jsonl").mode & 0o777 & ~0o022 == mode)
  }

  @Test func `a shard is readable by no more users than the manifest`() throws {
    _ = FileManager.default.createFile(
      atPath: folder.file("mine.txt"), contents: Data("http://a.example/?token=x\n".utf8),
      attributes: [.posixPermissions: 0o600])
    _ = try ShardSplit(configuration: Configuration(), count: 1).split(folder.file("mine.txt"), job: nil, into: target)
    #expect(try FileStatus(of: target + "/0/mine.jsonl").mode & 0o777 == 0o600)
  }

  @Test func `lines beyond those that are held in memory are all written`() throws {
    let text = (0..<ShardLines.limit / 2000).map {
      "\"http://h\($0 % 50).example/\(String(repeating: "x", count: 2000))\($0)\""
    }
    let plan = try split(text.joined(separator: "\n"), count: 30)
    #expect(try (0..<30).reduce(0) { try $0 + lines($1).count } == text.count && plan.entries == text.count)
  }

  // MARK: Sources

  @Test func `the files of a folder are divided as entries`() throws {
    let pictures = folder.file("root/in")
    try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
    for number in 0..<20 { try Data("x".utf8).write(to: URL(fileURLWithPath: "\(pictures)/\(number).jpg")) }
    let plan = try split(
      #"{"source": "file:in/", "defaults": {"quality": 4}}"#, as: "job.json", count: 2, root: folder.file("root"))
    #expect(plan.entries == 20)
    #expect(try (0..<2).flatMap { try lines($0) }.allSatisfy { $0["quality"]?.integer == 4 })
    #expect(try Set(shards(2).keys) == Set((0..<20).map { "\($0)" }))
  }

  @Test func `a list that must be downloaded is refused with what to do, and leaves nothing`() throws {
    #expect { try split(#"{"source": "http://a.example/list.txt"}"#, as: "job.json", count: 2) } throws: {
      "\($0)".contains("download that list")
    }
    #expect(try !FileStatus.exists(target) && !FileStatus.exists(target + ".part"))
  }

  @Test func `what is no file is refused at once`() throws {
    let split = ShardSplit(configuration: Configuration(), count: 1)
    try FileManager.default.createSymbolicLink(atPath: folder.file("z.jsonl"), withDestinationPath: "/dev/zero")
    #expect { try split.split(folder.file("z.jsonl"), job: nil, into: target) } throws: {
      ($0 as? StopError)?.isMissing == true
    }
  }

  @Test func `files that all wait for one entry of a host are counted as its own`() throws {
    let tied = (0..<400).map { #"{"url": "pics/\#($0).jpg", "after": "logo"}"# }
    let others = (0..<400).map { "\"http://h\($0).example/\($0).jpg\"" }
    try split(([#"{"url": "http://logo.example/", "name": "logo"}"#] + tied + others).joined(separator: "\n"), count: 4)
    let sizes = try (0..<4).map { try lines($0).count }.sorted()
    #expect(sizes[3] == 401 && sizes[0] > 100, "\(sizes)")
  }

  @Test func `a manifest with problems is rejected with all of them, and leaves nothing`() throws {
    #expect { try split("{\"url\": 1}\n{\"url\": \"http://a.example/\", \"filters\": \"no()\"}", count: 2) } throws: {
      ($0 as? Rejected)?.problems.count == 2
    }
    #expect(try !FileStatus.exists(target) && !FileStatus.exists(target + ".part"))
  }
}

extension Entry {
  /// What decides on its result and its row, but for its place in the manifest.
  fileprivate var meaning: [String] {
    [
      "\(urls)", "\(request)", "\(key ?? "")", name, variant ?? "", recipe.description, "\(options)", "\(priority)",
      checksum?.description ?? "", metadata?.text ?? "",
    ]
  }
}

import Foundation
import Testing
import TestSupport
import Transfer

@testable import DarkroomCLI
@testable import Model

/// The key `hosts` of the configuration file, and the files that it names.
@Suite struct HostRuleReaderTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    for name in ["in", "out"] {
      try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: false)
    }
  }

  private func write(_ text: String, to name: String, mode: Int = 0o600) throws {
    let path = folder.file(name)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  private func settings(_ hosts: String, _ environment: [String: String] = [:]) throws -> Settings {
    try write(#"{"hosts": \#(hosts)}"#, to: "config.json")
    let words = [
      "watch", "--config", folder.file("config.json"), "--inbox", folder.file("in"), "--outbox", folder.file("out"),
    ]
    return try Settings(Arguments(words), environment: environment)
  }

  /// The rule for a URL, once the files have been read.
  private func rule(
    _ hosts: String, _ url: String = "http://a.test/", _ environment: [String: String] = [:]
  ) throws -> HostRule? {
    try settings(hosts, environment).resolved().hosts.rule(for: SourceLocation(parsing: url))
  }

  @Test func `each key sets what it says, as a number or as text`() throws {
    let rule = try #require(
      try rule(
        #"""
        {"*.test": {"per-host": 2, "interval": 0.5, "max-rate": "1M", "connect-timeout": 3, "first-byte-timeout": 20, "timeout": "7.5",
          "netrc": false, "_note": [1]}, "_other": 1, "b.test": {"per-host": "3", "max-rate": 1000}}
        """#))
    #expect(rule.pattern.description == "*.test")
    #expect(rule.perHost == 2 && rule.interval == 0.5)
    #expect(rule.settings.maxRate == 1 << 20 && rule.settings.connectTimeout == .seconds(3))
    #expect(
      rule.settings.timeout == .seconds(7.5) && rule.netrcFile == nil && rule.settings.netrc == nil
        && rule.secrets == nil)
    let other = try #require(try self.rule(#"{"b.test": {"per-host": "3", "max-rate": 1000}}"#, "http://b.test/"))
    #expect(other.perHost == 3 && other.settings.maxRate == 1000)
  }

  @Test(arguments: [
    (#"[]"#, #""hosts" must be an object of rules by host"#),
    (#"{"a.test": 1}"#, #""hosts": "a.test" must be an object"#),
    (
      #"{"http://a.test": {}}"#,
      #""hosts": "http://a.test" must be a host, not a URL; did you mean "a.test"?"#
    ),
    (#"{"https://A.test:81/x?y": {}}"#, #"not a URL; did you mean "a.test:81"?"#),
    (#"{"http://": {}}"#, #""hosts": "http://" must be a host, not a URL"#),
    (#"{"a.test": {"interval": 86401}}"#, #""interval" must be a number of seconds from 0 to 86400, not "86401""#),
    (#"{"a.test": {"per-hots": 1}}"#, #""hosts": "a.test": unknown key "per-hots"; did you mean "per-host"?"#),
    (
      #"{"a.test": {"retries": 1}}"#,
      #""hosts": "a.test": "retries" is not a key of a rule, but of the file, for all hosts"#
    ),
    (#"{"a.test": {"headers": 1}}"#, #"did you mean "headers-file"?"#),
    (
      #"{"a.test": {"per-host": 0}}"#,
      #""hosts": "a.test": "per-host" must be a whole number from 1 to 1024, not "0""#
    ),
    (#"{"a.test": {"interval": -1}}"#, #""interval" must be a number of seconds from 0 to 86400, not "-1""#),
    (#"{"a.test": {"max-rate": "fast"}}"#, #""max-rate" must be a number of bytes"#),
    (#"{"a.test": {"max-rate": 0}}"#, #""max-rate" must be at least 1"#),
    (#"{"a.test": {"connect-timeout": true}}"#, #""connect-timeout" must be a number or a string"#),
    (#"{"a.test": {"netrc": 1}}"#, #""netrc" must be true, false or the name of a file"#),
    (#"{"a.test": {"netrc": true}}"#, #""netrc" must be the name of a file, because neither NETRC nor HOME is set"#),
    (#"{"a.test": {"headers-file": ""}}"#, #""headers-file" must be the name of a file"#),
    (#"{"a.test:81": {"interval": 1}}"#, #""a.test:81": "interval" is not allowed in a rule with a port"#),
    (#"{"a.test:81": {"max-rate": "1M"}}"#, #""a.test:81": "max-rate" is not allowed in a rule with a port"#),
    (#"{"a.test": {}, "A.test.": {}}"#, #""hosts": "A.test." is for the same hosts as "a.test""#),
    (#"{"a.test": {}, "a.test": {}}"#, #"the key "a.test" occurs twice"#),
  ])
  func `what is wrong is told with the file, the pattern and the key`(hosts: String, message: String) throws {
    let error = #expect(throws: UsageError.self) { try settings(hosts) }
    let text = error?.description ?? ""
    #expect(text.hasPrefix(folder.file("config.json") + ": ") && text.contains(message), "\(text)")
  }

  @Test func `a misspelt "hosts" is told apart, and no option is called so`() throws {
    let words = ["watch", "--config", folder.file("config.json")]
    for (name, value) in [("host", "{}"), ("hots", "1"), ("Hosts", "null")] {
      try write(#"{"\#(name)": \#(value)}"#, to: "config.json")
      let error = #expect(throws: UsageError.self) { try Settings(Arguments(words), environment: [:]) }
      #expect(error?.description.hasSuffix(#"unknown key "\#(name)"; did you mean "hosts"?"#) == true, "\(name)")
    }
    #expect(throws: UsageError.self) { try Settings(Arguments(["watch"]), environment: ["DARKROOM_HOSTS": "{}"]) }
  }

  // MARK: Files

  @Test func `header fields come from a file beside the configuration, and from the environment`() throws {
    try write("# mine\n\nAuthorization: Bearer ${TOKEN}-${TOKEN}\r\n X-Key:  a$b $5 {c} \n", to: "headers")
    let hosts = #"{"a.test": {"headers-file": "headers"}}"#
    let one = try #require(try rule(hosts, "http://a.test/", ["TOKEN": "s3"]))
    #expect(one.settings.headers.map(\.line) == ["Authorization: Bearer s3-s3", "X-Key: a$b $5 {c}"])
    let other = try #require(try rule(hosts, "http://a.test/", ["TOKEN": "s4"]))
    #expect(one.secrets != nil && one.secrets != other.secrets)
    #expect(one.secrets?.contains("s3") == false)
    let error = #expect(throws: UsageError.self) { try rule(hosts) }
    #expect(
      error?.description == folder.file("config.json") + #": "hosts": "a.test": "headers-file": "#
        + folder.file("headers") + ", line 3: the environment variable TOKEN is not set, or empty")
  }

  @Test(arguments: [
    ("X: secret ${A", "${ must be followed by"), ("X: secret${}", "${ must be followed by"),
    ("secret", "a header is NAME: VALUE"), ("Range: secret", "the header Range "),
    ("se cret: secret", "a header's name"),
    ("X: secret\u{1}", "control characters"),
  ])
  func `a line that is no header field is told without its value`(line: String, message: String) throws {
    try write("A: b\n\(line)\n", to: "headers")
    let error = #expect(throws: UsageError.self) { try rule(#"{"a.test": {"headers-file": "headers"}}"#) }
    let text = error?.description ?? ""
    #expect(text.contains("headers, line 2: ") && text.contains(message) && !text.contains("secret"), "\(text)")
  }

  @Test(arguments: ["headers-file", "netrc"])
  func `a file must be a regular one of at most 64 KiB`(key: String) throws {
    func message(_ path: String) -> String? {
      #expect(throws: UsageError.self) { try rule(#"{"a.test": {"\#(key)": "\#(path)"}}"#) }?.description
    }
    let place = folder.file("config.json") + #": "hosts": "a.test": "\#(key)" "#
    #expect(message("missing")?.hasPrefix(place + "cannot be read: " + folder.file("missing")) == true)
    #expect(message("/dev/null")?.contains("must be a regular file") == true)
    #expect(message(".")?.contains("must be a regular file") == true)
    try write(String(repeating: "#", count: 65_537), to: "long")
    #expect(message("long")?.contains("may have 65536 bytes") == true)
  }

  @Test func `netrc is the file named, that of NETRC, or that of the home folder`() throws {
    try write("machine a.test login u password p", to: ".netrc")
    try write("machine a.test login u password q", to: "mine")
    let home = ["HOME": folder.path]
    let files = try [
      rule(#"{"a.test": {"netrc": true}}"#, "http://a.test/", home),
      rule(#"{"a.test": {"netrc": true}}"#, "http://a.test/", home.merging(["NETRC": folder.file("mine")]) { $1 }),
      rule(#"{"a.test": {"netrc": "mine"}}"#, "http://a.test/", home),
    ]
    #expect(files.map { $0?.netrcFile } == [".netrc", "mine", "mine"].map { folder.file($0) })
    #expect(files[0]?.secrets != files[1]?.secrets && files[1]?.secrets == files[2]?.secrets)
  }

  @Test func `netrc is what the file held when it was read`() throws {
    try write("machine a.test login u password p", to: "mine")
    let netrc = try #require(try rule(#"{"*": {"netrc": "mine"}}"#, "http://a.test/", [:])?.settings.netrc)
    try FileManager.default.removeItem(atPath: folder.file("mine"))
    for _ in 0..<2 {
      #expect(try String(contentsOfFile: netrc.path, encoding: .utf8) == "machine a.test login u password p")
    }
  }

  @Test func `a file that is open to others is a warning`() throws {
    try write("A: b", to: "open", mode: 0o640)
    try write("default login u password p", to: "closed")
    let hosts = #"{"a.test": {"headers-file": "open"}, "b.test": {"headers-file": "open", "netrc": "closed"}}"#
    let warnings = try settings(hosts).resolved().hosts.warnings
    #expect(warnings.count == 1 && warnings[0].hasPrefix(folder.file("open") + " "))
  }

  @Test(arguments: [
    ("", false), ("# machine a.test login u password p\n", false), ("machine a.test\n", false),
    ("login u password p", false),
    ("machine a.test login", false), ("machine a.test\n login u\n", true), ("default password p", true),
  ])
  func `a netrc file that gives no host a password is a warning`(text: String, isUseful: Bool) throws {
    try write(text, to: "mine")
    let settings = try settings(#"{"a.test": {"netrc": "mine"}, "b.test": {"netrc": "mine"}}"#)
    let warnings = try settings.resolved().hosts.warnings
    #expect(warnings.isEmpty == isUseful && warnings.count < 2)
    #expect(warnings.allSatisfy { $0.hasPrefix(folder.file("mine") + " gives no host a password") })
  }

  @Test func `files are named in full, also beneath a folder that is not`() throws {
    try write(#"{"hosts": {"a.test": {"headers-file": "no/headers"}}}"#, to: "config.json")
    let folders = try DarkroomFolders()
    let run = try DarkroomProcess.run(
      script: "darkroom run --config config.json --inbox '\(folders.inbox)' --outbox '\(folders.outbox)'", in: folder)
    #expect(run.status == 64)
    let prefix = #"config.json: "hosts": "a.test": "headers-file" cannot be read: "# + folder.file("no/headers")
    #expect(run.error.contains(prefix), "\(run.error)")
  }

  @Test func `who only looks reads no secrets`() throws {
    let settings = try settings(#"{"a.test": {"headers-file": "missing"}}"#)
    #expect(throws: Never.self) { try settings.resolved(for: .reading) }
  }
}

import Scheduling
import System
import Testing
import Transfer

@testable import Model

@Suite struct HostRulesTests {
  private func rules(_ patterns: [String]) throws -> HostRules {
    var rules = HostRules()
    for pattern in patterns { #expect(rules.add(HostRule(try HostPattern(parsing: pattern))) == nil) }
    return rules
  }

  @Test(arguments: [
    ("http://example.org/", "example.org"), ("HTTP://EXAMPLE.ORG./a", "example.org"),
    ("http://a.example.org/", "*.example.org"), ("http://a.b.example.org/", "*.B.example.org"),
    ("http://b.example.org/", "*.example.org"), ("http://example.org:8080/", "example.org:8080"),
    ("http://a.example.org:8080/", "*.example.org:8080"), ("http://c.b.example.org:8080/", "*.B.example.org"),
    ("http://notexample.org/", "*"), ("http://org/", "*"), ("https://other.test/", "*:443"),
    ("https://other.test:444/", "*"), ("http://other.test:443/", "*:443"), ("http://bücher.test/", "bücher.test"),
    ("http://xn--bcher-kva.test/", "bücher.test"), ("http://x.BÜCHER.test/", "*.xn--bcher-kva.test"),
    ("http://[::1]/", "[0:0::1]"), ("http://[::1]:81/", "[::1]:81"), ("http://127.1/", "127.0.0.1"),
    ("http://2130706433:9/", "127.0.0.1"), ("http://user:pw@example.org:8080/x", "example.org:8080"),
    ("http://10.0.0.1/", "*"), ("http://a.node1/", "*.node1"),
  ])
  func `an exact host beats a pattern, a longer pattern a shorter one, and one with the port one without`(
    url: String, pattern: String
  ) throws {
    let rules = try rules([
      "*", "*:443", "example.org", "example.org:8080", "*.example.org", "*.example.org:8080", "*.B.example.org",
      "bücher.test", "*.xn--bcher-kva.test", "[0:0::1]", "[::1]:81", "127.0.0.1", "*.node1",
    ])
    #expect(rules.rule(for: try SourceLocation(parsing: url))?.pattern.description == pattern)
  }

  @Test(arguments: [
    ("http://example.org/", "*.example.org"), ("http://a.example.org/", "example.org"),
    ("http://1.2.3.4/", "*.test"), ("http://example.org/", "example.org:81"), ("coffee.jpg", "*"),
    ("file:///coffee.jpg", "*"),
  ])
  func `other hosts, the apex of a pattern and files have no rule`(url: String, pattern: String) throws {
    #expect(try rules([pattern]).rule(for: SourceLocation(parsing: url)) == nil)
  }

  @Test(arguments: [
    "", "*example.org", "a.*.org", "http://example.org", "example.org/a", "user@example.org", "example.org:",
    "example.org:0", "example.org:65536", "::1", "*.127.0.0.1", "*.[::1]", "a b", "*.", "[::1", "a?", "**",
    "a..b", ".a", "*..a", ".",
  ])
  func `what is no pattern is rejected`(text: String) {
    #expect(throws: ParseError.self) { try HostPattern(parsing: text) }
  }

  @Test(arguments: [("a.test", "A.test."), ("*.a.test:1", "*.A.TEST:1"), ("bücher.test", "xn--bcher-kva.test")])
  func `two patterns of the same hosts are found`(one: String, other: String) throws {
    var rules = try rules([one])
    #expect(rules.add(HostRule(try HostPattern(parsing: other)))?.description == one)
  }

  @Test func `the scheduler gets the numbers of the rule, of a host in any spelling`() throws {
    var rules = HostRules()
    var rule = HostRule(try HostPattern(parsing: "*.example.org"))
    (rule.perHost, rule.interval) = (2, 1.3331)
    #expect(rules.add(rule) == nil)
    #expect(rules.add(HostRule(try HostPattern(parsing: "a.example.org:81"))) == nil)
    #expect(rules.add(HostRule(try HostPattern(parsing: "127.0.0.1"))) == nil)
    for name in ["a.example.org", "a.b.example.org", "a.example.org.", "ex%61mple.example.org"] {
      #expect(rules.allowance(of: "https://" + name) == .init(downloads: 2, interval: 1334), "\(name)")
    }
    #expect(
      rules.allowance(of: "http://a.example.org:81") == .init(downloads: 2, interval: 1334), "of a rule with a port")
    #expect(rules.allowance(of: "http://example.org") == .standard)
    #expect(rules.patterns(of: "http://a.example.org") == ["*.example.org"])
    #expect(rules.patterns(of: "http://a.example.org:81") == ["a.example.org:81", "*.example.org"])
    #expect(rules.patterns(of: "http://127.1") == ["127.0.0.1"])
    #expect(rules.patterns(of: "http://example.org") == [])
    #expect(rules.mostPerHost == 2)
    // A job that an earlier version accepted.
    #expect(rules.allowance(of: "a.example.org:81") == .init(downloads: 2, interval: 1334))
    #expect(rules.patterns(of: "a.example.org") == ["*.example.org"])
  }

  @Test(arguments: [("http://a.example.org:80", "https://a.example.org"), ("http://h", "https://h:443")])
  func `a rule for one port holds for the scheme whose own port it is`(other: String, origin: String) throws {
    var rules = HostRules()
    for host in ["a.example.org", "h"] {
      var rule = HostRule(try HostPattern(parsing: host + ":443"))
      rule.perHost = 1
      #expect(rules.add(rule) == nil)
    }
    #expect(rules.allowance(of: origin) == .init(downloads: 1))
    #expect(rules.allowance(of: other) == .standard)
  }

  @Test func `the share of a host limits that host only`() throws {
    var rule = HostRule(try HostPattern(parsing: "*.example.org"))
    (rule.perHost, rule.interval) = (2, 1.3331)
    var rules = HostRules()
    #expect(rules.add(rule) == nil)
    #expect(rules.add(HostRule(try HostPattern(parsing: "a.example.org:81"))) == nil)
    let original = rules
    rules.limit("http://a.example.org:81", to: 1, of: 2, from: original)
    #expect(rules.allowance(of: "http://a.example.org:81") == .init(downloads: 1, interval: 2667))
    #expect(rules.allowance(of: "http://a.example.org") == .init(downloads: 2, interval: 1334))
    rules.limit("http://b.example.org", to: 1, of: 4, from: original)
    rules.limit("http://b.example.org:81", to: 2, of: 2, from: original)
    #expect(rules.allowance(of: "http://b.example.org") == .init(downloads: 1, interval: 5333))
    #expect(rules.allowance(of: "http://b.example.org:81") == .init(downloads: 2, interval: 1334))
    #expect(rules.allowance(of: "https://b.example.org") == .init(downloads: 2, interval: 1334))
    // In a plan of an earlier version.
    rules.limit("c.example.org", to: 1, of: 2, from: original)
    #expect(rules.allowance(of: "https://c.example.org") == .init(downloads: 1, interval: 2667))
    #expect(rules.allowance(of: "http://c.example.org") == .init(downloads: 1, interval: 2667))
    #expect(rules.allowance(of: "http://[::1]:81") == .standard)
    rules.limit("http://[::1]:81", to: 1, of: 2, from: original)
    #expect(rules.allowance(of: "http://[::1]:81") == .init(downloads: 1))
  }

  @Test func `the rate is that of the rule for all ports`() throws {
    var rules = HostRules()
    var rule = HostRule(try HostPattern(parsing: "*.example.org"))
    rule.settings.maxRate = 1000
    rule.settings.timeout = .seconds(1)
    #expect(rules.add(rule) == nil)
    #expect(rules.add(HostRule(try HostPattern(parsing: "a.example.org:81"))) == nil)
    let settings = try ["http://a.example.org/", "http://a.example.org:81/"].map {
      rules.rule(for: try SourceLocation(parsing: $0))?.settings
    }
    #expect(settings.map { $0?.maxRate } == [1000, 1000])
    #expect(settings.map { $0?.timeout } == [.seconds(1), nil], "nothing else is merged")
    rules.limit("http://a.example.org:81", to: 1, of: 4, from: rules)
    #expect(try rules.rule(for: SourceLocation(parsing: "http://a.example.org:81/"))?.settings.maxRate == 250)
  }

  @Test func `requests of different users with the same key have different keys of the cache`() throws {
    let keys = try ["https://alice:a@h/me?1", "https://alice:a@h/me?2", "https://bob:b@h/me"].map {
      CacheKey(try SourceLocation(parsing: $0), key: "job/me")
    }
    #expect(keys[0] == keys[1] && keys[0] != keys[2])
  }

  @Test func `requests with different secrets of a rule have different keys of the cache`() throws {
    let location = try SourceLocation(parsing: "http://h/a")
    let keys = [nil, "1", "2"].map { CacheKey(location, secrets: $0).text }
    #expect(Set(keys).count == 3)
    #expect(keys[0] == CacheKey(location).text)
    #expect(CacheKey(location, secrets: "1").text != CacheKey(location, run: "1").text)
  }
}

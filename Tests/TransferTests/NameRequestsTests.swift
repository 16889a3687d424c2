import Glibc
import System
import Testing

@testable import Transfer

@Suite struct NameRequestsTests {
  private static let found = NameLookup.addresses([.v4(1)])

  @Test func `a name is looked up once for all that ask for it meanwhile and later`() {
    var names = NameRequests<Int>()
    #expect(names.request("a", 1, now: 0, deadline: 10) == .lookUp)
    #expect(names.request("a", 2, now: 1, deadline: 11) == .wait)
    #expect(names.request("b", 3, now: 1, deadline: 5) == .lookUp)
    #expect(names.nextCheck == 5)
    #expect(names.finish("a", Self.found, now: 2) == [1, 2])
    #expect(names.request("a", 4, now: 3, deadline: 13) == .known(Self.found))
  }

  @Test(arguments: [
    (found, 299.0, true), (found, 300, false), (.notFound, 59, true), (.notFound, 60, false), (.failed("x"), 0, false),
  ])
  func `addresses are known for five minutes, missing names for one, failures not at all`(
    lookup: NameLookup, age: Double, isKnown: Bool
  ) {
    var cache = NameCache()
    cache.insert(lookup, for: "a", now: 1000)
    #expect((cache.lookup("a", now: 1000 + age) != nil) == isKnown)
  }

  @Test func `a name none of whose addresses can be reached is asked for again, once a minute`() {
    var cache = NameCache()
    cache.insert(Self.found, for: "a", now: 0)
    for _ in 0..<10 { cache.shortenLifetime(of: "a") }
    #expect(cache.lookup("a", now: 59) != nil)
    #expect(cache.lookup("a", now: 60) == nil)
  }

  @Test func `a name that had addresses is asked for each time once it does not exist`() {
    var cache = NameCache()
    cache.insert(Self.found, for: "a", now: 0)
    for now in [300.0, 301] {
      cache.insert(.notFound, for: "a", now: now)
      #expect(cache.lookup("a", now: now) == nil)
    }
    cache.insert(Self.found, for: "a", now: 302)
    #expect(cache.lookup("a", now: 302) == Self.found)
  }

  @Test func `the cache does not grow beyond its capacity, and keeps the newest`() {
    var cache = NameCache(capacity: 100)
    for number in 0..<1000 {
      cache.insert(Self.found, for: "\(number)", now: Double(number) / 100)
      #expect(cache.lookup("\(number)", now: Double(number) / 100) != nil)
    }
    let known = (0..<1000).filter { cache.lookup("\($0)", now: 10) != nil }
    #expect(known.count <= 100)
    #expect(known.first.map { $0 >= 900 } == true)
  }

  @Test func `who has waited for too long gives up, and the lookup still serves others`() {
    var names = NameRequests<Int>()
    #expect(names.request("a", 1, now: 0, deadline: 10) == .lookUp)
    #expect(names.removeOverdue(now: 9).isEmpty)
    #expect(names.removeOverdue(now: 10) == [1])
    #expect(names.nextCheck == nil)
    #expect(names.request("a", 2, now: 11, deadline: 21) == .wait, "no second lookup of the same name")
    #expect(names.removeWaiting { $0 == 2 } == [2])
    #expect(names.finish("a", Self.found, now: 12) == [])
    #expect(names.request("a", 3, now: 13, deadline: 21) == .known(Self.found))
  }

  @Test func `a name that nobody waits for is forgotten unless its lookup is under way`() {
    var names = NameRequests<Int>()
    for (number, name) in ["a", "b", "c"].enumerated() {
      #expect(names.request(name, number, now: 0, deadline: 10) == .lookUp)
    }
    #expect(names.request("c", 3, now: 5, deadline: 15) == .wait)
    #expect(Set(names.removeOverdue(now: 10)) == [0, 1, 2])
    var asked: Set<String> = []
    names.forgetAbandoned { asked.insert($0).inserted && $0 == "a" }
    #expect(asked == ["a", "b"], "c is still waited for")
    #expect(names.nextCheck == 15)
    #expect(names.request("a", 4, now: 11, deadline: 21) == .lookUp)
    #expect(names.request("b", 5, now: 11, deadline: 21) == .wait)
    #expect(names.removeWaiting { $0 == 3 } == [3])
    #expect(names.removeOverdue(now: 15).isEmpty)
    #expect(names.nextCheck == 21)
  }

  @Test(arguments: [
    (EAI_NONAME, NameLookup.notFound), (-5, .notFound), (0, .notFound),
    (EAI_AGAIN, .failed("Temporary failure in name resolution")),
    (EAI_FAIL, .failed("Non-recoverable failure in name resolution")), (EAI_SYSTEM, .failed("System error")),
  ])
  func `only the resolver's answer says that a name does not exist`(code: Int32, lookup: NameLookup) {
    #expect(NameLookup(code: code, addresses: []) == lookup)
  }

  @Test(arguments: [
    ("http://Example.COM/a", "example.com", "80"), ("https://user:x@h.example:8443/", "h.example", "8443"),
    ("https://b\u{fc}cher.example/", "xn--bcher-kva.example", "443"), ("http://h.example./", "h.example.", "80"),
  ])
  func `the name to resolve is what libcurl would resolve`(url: String, name: String, port: String) throws {
    ProcessLocale.setUTF8  // the encoding in which libcurl reads names
    let found = try #require(try SourceLocation(parsing: url).nameAndPort)
    #expect(found == (name, port))
  }

  @Test(arguments: ["http://127.0.0.1/", "http://[::1]:80/", "http://127.1/", "http://localhost/", "/a/b"])
  func `addresses and files have no name to resolve`(url: String) throws {
    #expect(try SourceLocation(parsing: url).nameAndPort == nil)
  }
}

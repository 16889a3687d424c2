import Foundation
import TestSupport
import Testing

@testable import Transfer

@Suite(.blocking) struct RetryAfterTests {
  @Test(
    "Retry-After is a number of seconds or a date, never negative",
    arguments: [
      ("0", 0), ("2", 2), ("1.5", 1.5), ("-3", 0), ("99999999999999999999999", Double(Int32.max)),
      ("Sun, 06 Nov 1994 08:49:40 GMT", 3), ("Sunday, 06-Nov-94 08:49:40 GMT", 3), ("Sun Nov  6 08:49:40 1994", 3),
      ("Sun, 06 Nov 1994 08:49:30 GMT", 0),
    ])
  func value(text: String, seconds: Double) {
    #expect(retryAfterSeconds(text, now: 784_111_777) == seconds)
  }

  @Test(
    "what is neither a number nor a date is ignored", arguments: ["", "soon", "-", "1.2.3", "..", "2 seconds", "NaN"])
  func nonsense(text: String) {
    #expect(retryAfterSeconds(text, now: 784_111_777) == nil)
  }

  @Test("a retryable status carries it", arguments: [429, 503, 500])
  func seconds(status: Int) async throws {
    let server = try FaultServer.shared
    let (error, _) = try await Downloads().failure(server.url("retry-after/\(status)/2"))
    #expect(error?.httpStatus == status)
    #expect(error?.retryAfter == 2)
  }

  @Test("a date counts from now")
  func date() async throws {
    let server = try FaultServer.shared
    let (error, _) = try await Downloads().failure(server.url("retry-after/503/NOW+30"))
    let seconds = try #require(error?.retryAfter)
    #expect(seconds > 20 && seconds <= 30)
  }

  @Test("a status that is final does not carry it", arguments: [404, 410])
  func final(status: Int) async throws {
    let server = try FaultServer.shared
    let (error, _) = try await Downloads().failure(server.url("retry-after/\(status)/2"))
    #expect(error?.httpStatus == status)
    #expect(error?.retryAfter == nil)
  }

  @Test("what a failed transfer received is counted")
  func bytes() async throws {
    let server = try FaultServer.shared
    let downloads = try Downloads()
    #expect(try await downloads.failure(server.url("short")).error?.bytes == 5)
    #expect(try await downloads.failure(server.url("status/500")).error?.bytes == 5)
    #expect(try await downloads.failure("http://10.0.0.1/").error?.bytes == 0)
  }

  @Test("the first transfer opens a connection, the next one uses it, whether or not it succeeds")
  func connections() async throws {
    let folder = try TemporaryFolder()
    try "hello".write(toFile: folder.file("a"), atomically: false, encoding: .utf8)
    let nginx = try Nginx(serving: folder.path)
    let downloads = try Downloads()
    for name in ["a", "missing"] {
      let groups = try await downloads.fetch(nginx.url(name), inGroupsOf: [1, 1])
      let reused = groups.map { group in
        switch group[0].result {
        case .success(let outcome): outcome.requests.reused
        case .failure(let error): error.requests.reused
        }
      }
      // The connection of what was fetched before may be too old by then.
      #expect(name == "a" ? reused == [0, 1] : reused[1] == 1, "\(name): \(reused)")
    }
    #expect(try await downloads.failure("http://10.0.0.1/").error?.requests.reused == 0)
    let other = try Downloads()
    #expect(try await other.failure(nginx.url("missing")).error?.requests.reused == 0)
  }
}

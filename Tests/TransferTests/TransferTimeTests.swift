import System
import Testing

@testable import Transfer

@Suite struct TransferTimeTests {
  /// Limits of 100 s, of 30 s to connect and of 20 s for the first byte.
  private static func time(whole: Duration? = nil) -> TransferTime {
    var (settings, configuration) = (HostSettings(), TransferConfiguration())
    (settings.timeout, settings.timeLeft, settings.connectTimeout) = (.seconds(100), whole, .seconds(30))
    configuration.firstByteTimeout = .seconds(20)
    return TransferTime(settings, configuration)
  }

  @Test("requests and waits for names take from the limit of the whole, and of connecting where less is left")
  func left() {
    var time = Self.time()
    time.requestEnds(after: 60, now: 0)
    time.waited(5)
    #expect(time.left == .seconds(35) && time.connectTimeout == .seconds(30))
    time.requestEnds(after: 20, now: 0)
    #expect(time.left == .seconds(15) && time.connectTimeout == .seconds(15))
    #expect(time.seconds == 85)
  }

  @Test("the rest of a longer time is a limit, too")
  func wholeLimit() {
    var time = Self.time(whole: .seconds(50))
    time.requestEnds(after: 45, now: 0)
    #expect(time.left == .seconds(5))
  }

  @Test("the first byte is awaited from the end of the request on, at most for its limit")
  func firstByte() throws {
    var time = Self.time()
    #expect(time.check(now: 1000, bytes: 0) == 1020)
    time.hasSent(now: 1000)
    time.hasSent(now: 1005)
    #expect(time.check(now: 1024, bytes: 0) == 1025 && time.failure(of: "a") == nil)
    #expect(time.check(now: 1025, bytes: 0) == nil)
    let failure = try #require(time.failure(of: "a"))
    #expect(failure.code == .timeout && failure.message.contains("first-byte-timeout is 20.0 s"))
    // A redirect.
    time.requestBegins()
    #expect(time.check(now: 1025, bytes: 0) == 1045 && time.failure(of: "a") == nil)
  }

  @Test("after the first byte libcurl enforces the speed, unless others may hold the request back")
  func speed() {
    var time = Self.time()
    time.hasSent(now: 0)
    time.bodyBegins(now: 10)
    #expect(time.check(now: 1e6, bytes: 0) == .infinity && time.enforcedSpeed == TransferConfiguration().lowSpeed)
    time.isMeasured = false
    #expect(time.enforcedSpeed == 0)
  }

  @Test("a request that is repeated over another connection counts twice, a tunnel not at all")
  func requests() {
    var requests = SentRequests()
    requests.hasSent()
    #expect(requests.hasSentBytes)
    requests.requestEnds(newConnections: 1)
    #expect(requests.count == RequestCount())
    for _ in 0..<2 {
      requests.isConnected(isSent: true)
      requests.hasSent()
      requests.hasSent()
    }
    requests.requestEnds(newConnections: 1)
    #expect(requests.count == RequestCount(sent: 2, reused: 1))
    requests.requestBegins()
    requests.isConnected(isSent: false)
    requests.requestEnds(newConnections: 0)
    #expect(requests.count == RequestCount(sent: 2, reused: 1) && !requests.hasSentBytes)
  }
}

import Testing
import Transfer

@testable import Darkroom

@Suite struct HostLimitsTests {
  @Test func `what is left for an entry does not take the place of a timeout`() {
    let settings = HostSettings(.usual, TransferConfiguration(), left: 3600)
    #expect(settings.timeLeft == .seconds(3600))
    #expect(settings.timeout == nil && settings.connectTimeout == nil)
    #expect(HostSettings(.usual, TransferConfiguration(), left: -1).timeLeft == .milliseconds(1))
    #expect(HostSettings(.usual, TransferConfiguration(), left: nil) == HostSettings())
  }

  @Test func `a host that has never answered may take as long for its answer as for a connection`() {
    var configuration = TransferConfiguration()
    configuration.connectTimeout = .seconds(7)
    #expect(HostSettings(.first, configuration, left: nil).firstByteTimeout == .seconds(7))
    configuration.firstByteTimeout = .seconds(90)
    #expect(HostSettings(.first, configuration, left: nil).firstByteTimeout == .seconds(90))
  }

  @Test func `after a silence a connection may take less, but an answer as long as before`() {
    var configuration = TransferConfiguration()
    configuration.connectTimeout = .seconds(7)
    let short = HostSettings(.short(2000), configuration, left: nil)
    #expect(short.firstByteTimeout == .seconds(7) && short.connectTimeout == .seconds(2))
    configuration.firstByteTimeout = .seconds(90)
    #expect(HostSettings(.short(2000), configuration, left: nil).firstByteTimeout == .seconds(90))
    configuration.connectTimeout = .seconds(1)
    #expect(HostSettings(.short(2000), configuration, left: nil).connectTimeout == .seconds(1))
  }
}

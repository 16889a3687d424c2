import Testing
import Transfer

@testable import Darkroom

@Suite struct HostLimitsTests {
  @Test func `what is left for an entry does not take the place of a timeout`() {
    let settings = HostSettings(nil, TransferConfiguration(), left: 3600)
    #expect(settings.timeLeft == .seconds(3600))
    #expect(settings.timeout == nil && settings.connectTimeout == nil)
    #expect(HostSettings(nil, TransferConfiguration(), left: -1).timeLeft == .milliseconds(1))
    #expect(HostSettings(nil, TransferConfiguration(), left: nil) == HostSettings())
  }
}

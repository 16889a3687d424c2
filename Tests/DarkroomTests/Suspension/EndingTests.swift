import Testing

@testable import Darkroom

@Suite struct EndingTests {
  private let ending = Ending(reason: .asked, deadline: 20)

  @Test(arguments: [(true, true), (false, false), (true, false)])
  func `what is under way is awaited, and nothing for longer than five seconds after the deadline`(
    isBusy: Bool, isDelivered: Bool
  ) {
    #expect(!ending.isOver(isBusy: isBusy, isDelivered: isDelivered, now: 24.9))
    #expect(ending.isOver(isBusy: isBusy, isDelivered: isDelivered, now: 25))
  }

  @Test func `the program ends as soon as nothing is left to do`() {
    #expect(ending.isOver(isBusy: false, isDelivered: true, now: 1))
  }
}

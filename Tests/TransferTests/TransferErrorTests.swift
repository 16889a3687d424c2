import TestSupport
import Testing

@testable import Transfer

@Suite(.blocking) struct TransferErrorTests {
  @Test(
    "the host refuses with 429, and with 503 and Retry-After",
    arguments: [
      ("status/429", true), ("status/503", false), ("retry-after/503/2", true), ("retry-after/500/2", false),
      ("status/404", false), ("reset", false),
    ])
  func hostRefusal(path: String, isRefusal: Bool) async throws {
    let server = try FaultServer.shared
    let (error, _) = try await Downloads().failure(server.url(path))
    #expect(error?.isHostRefusal == isRefusal)
  }
}

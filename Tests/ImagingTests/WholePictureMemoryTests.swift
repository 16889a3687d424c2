import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Imaging

/// In which order passes get memory of the shared budget.
@Suite(.blocking) struct WholePictureMemoryTests {
  private let memory = WholePictureMemory(limit: 100)
  private let size = PictureSize(width: 1, height: 1)

  /// A request on a thread of its own, which keeps its share until it is released.
  private final class Request: Sendable {
    private struct State {
      var isCancelled = false
      var isSeen = false
      var result: Result<WholePictureMemory.Share, ImagingError>?
    }

    private let state = Mutex(State())
    private let seen = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    /// Asks, and returns when the request waits or has ended.
    init(_ bytes: Int, of memory: WholePictureMemory) {
      let thread = Thread { self.ask(bytes, memory) }
      thread.start()
      seen.wait()
    }

    private func ask(_ bytes: Int, _ memory: WholePictureMemory) {
      request(bytes, memory)
      see()
      ended.signal()
    }

    private func request(_ bytes: Int, _ memory: WholePictureMemory) {
      let result = Result { () throws(ImagingError) in
        try memory.share(bytes, for: PictureSize(width: 1, height: 1)) {
          see()
          return state.withLock { $0.isCancelled }
        }
      }
      state.withLock { $0.result = result }
    }

    private func see() {
      let isFirst = state.withLock { state in
        defer { state.isSeen = true }
        return !state.isSeen
      }
      if isFirst { seen.signal() }
    }

    var isWaiting: Bool { state.withLock { $0.result == nil } }

    func cancel() { state.withLock { $0.isCancelled = true } }

    /// Waits until the request is granted, or has failed.
    func end() -> ImagingError? {
      ended.wait()
      return state.withLock { if case .failure(let error)? = $0.result { error } else { nil } }
    }

    func release() { state.withLock { $0.result = nil } }
  }

  @Test func `a small picture does not get memory before a large one that waits`() throws {
    var first: WholePictureMemory.Share? = try memory.share(60, for: size, isCancelled: { false })
    let (large, small) = (Request(80, of: memory), Request(30, of: memory))
    #expect(large.isWaiting && small.isWaiting && memory.bytesInUse == 60)
    // Nothing is needed for a pass row by row.
    _ = try memory.share(0, for: size, isCancelled: { true })
    withExtendedLifetime(first) {}
    first = nil
    #expect(large.end() == nil && small.isWaiting && memory.bytesInUse == 80)
    large.release()
    #expect(small.end() == nil && memory.bytesInUse == 30)
    small.release()
    #expect(memory.bytesInUse == 0)
  }

  @Test func `pictures that waited behind a cancelled one get memory`() throws {
    let first = try memory.share(60, for: size, isCancelled: { false })
    let (large, small) = (Request(80, of: memory), Request(30, of: memory))
    large.cancel()
    #expect(large.end()?.code == .cancelled && small.end() == nil && memory.bytesInUse == 90)
    withExtendedLifetime(first) {}
  }

  @Test func `a picture that exceeds the budget fails at once, also behind others`() throws {
    let first = try memory.share(60, for: size, isCancelled: { false })
    let large = Request(80, of: memory)
    #expect(Request(101, of: memory).end()?.code == .imageTooLarge)
    // And one that waits does, as soon as the budget is smaller.
    memory.setLimit(70)
    #expect(large.end()?.code == .imageTooLarge && memory.bytesInUse == 60)
    withExtendedLifetime(first) {}
  }
}

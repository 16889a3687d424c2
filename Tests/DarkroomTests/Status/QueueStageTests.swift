import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Darkroom

@Suite struct QueueStageTests {
  typealias Stage = Status.Queues.Stage

  /// An operation that goes on whenever it has been asked something, from waiting to executing to finished.
  private final class Restless: Operation, @unchecked Sendable {  // what changes is in a Mutex
    private let steps: [Int]
    private let questions = Mutex(0)

    /// - Parameter steps: After how many questions it makes each of the two steps.
    init(_ steps: [Int]) { self.steps = steps }

    /// How many of the steps have been made when it is asked.
    private var step: Int {
      let asked = questions.withLock { asked in
        defer { asked += 1 }
        return asked
      }
      return steps.count { $0 <= asked }
    }

    override var isExecuting: Bool { step == 1 }
    override var isFinished: Bool { step == 2 }
  }

  private static let waits = [9, 9]
  private static let runs = [0, 9]
  private static let hasEnded = [0, 0]

  @Test(arguments: [
    (waits, waits, Stage.waitsForDownload), (runs, waits, .downloads), (hasEnded, waits, .waitsForFiltration),
    (hasEnded, runs, .filters), (hasEnded, hasEnded, .hasEnded),
  ])
  func `an entry counts where its operations are`(download: [Int], filtration: [Int], stage: Stage) {
    #expect(Stage(download: Restless(download), filtration: Restless(filtration)) == stage)
  }

  @Test func `an entry whose operations go on while they are asked counts once, where they were meanwhile`() {
    for (first, second) in (0..<3).flatMap({ first in (first..<3).map { (first, $0) } }) {
      let download = Restless([first, second])
      let stage = Stage(download: download, filtration: Restless(Self.waits))
      #expect([.waitsForDownload, .downloads, .waitsForFiltration].contains(stage))
      let filtration = Restless([first, second])
      let later = Stage(download: Restless(Self.hasEnded), filtration: filtration)
      #expect([.waitsForFiltration, .filters, .hasEnded].contains(later))
    }
  }

  @Test func `the numbers of queues that are at work are never negative, nor more than there are entries`() throws {
    let chains = try Chains(downloads: 4, filtrations: 2)
    for round in 0..<30 {
      for position in 0..<20 { try chains.start(round * 20 + position) }
      for _ in 0..<500 {
        let status = chains.pending.status
        let numbers = [
          status.download.running, status.download.waiting, status.filtration.running, status.filtration.waiting,
        ]
        #expect(numbers.allSatisfy { $0 >= 0 } && numbers.reduce(0, +) <= 20, "\(numbers)")
      }
      _ = chains.ended(20)
    }
  }
}

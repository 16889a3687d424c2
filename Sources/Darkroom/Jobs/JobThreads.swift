import Dispatch
import Synchronization

/// Work on jobs that may block, until a job is recorded or the disk answers, or occupy a processor for long. Each piece has a thread of
/// its own, which a queue for each gets also while all processors are busy; an `OperationQueue` has as many as there are processors.
///
/// Of each kind at most 64 run at once, and the others wait in order: Dispatch has some 250 threads for the process, and if as many jobs
/// are planned, cancelled or replaced at once, what records them must still get one.
final class JobThreads: Sendable {
  static let planning = JobThreads("Planning")

  /// Recording cancelled entries, and writing reports.
  static let ending = JobThreads("Ending")

  static let limit = 64

  private typealias Work = @Sendable () -> Void

  private struct State {
    var running = 0
    var waiting: [Work] = []
  }

  private let name: String
  private let state = Mutex(State())

  init(_ name: String) { self.name = name }

  /// Runs `body` as soon as fewer than 64 others run.
  /// - Parameter group: Contains it until it has ended.
  func run(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
    group.enter()
    let work: Work = {
      body()
      group.leave()
    }
    let isFree = state.withLock { state in
      guard state.running < Self.limit else {
        state.waiting.append(work)
        return false
      }
      state.running += 1
      return true
    }
    if isFree { start(work) }
  }

  private func start(_ work: @escaping Work) {
    DispatchQueue(label: name).async { [self] in
      work()
      if let next = next() { start(next) }
    }
  }

  /// The work that follows one that has ended. Default: nil, none waits.
  private func next() -> Work? {
    state.withLock { state in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.running -= 1
      return nil
    }
  }
}

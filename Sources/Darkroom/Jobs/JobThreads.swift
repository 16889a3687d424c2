import Foundation

/// The threads of work on jobs that may block: until a job is recorded, or the disk answers. Dispatch has some 250 threads for the whole
/// process; if as many jobs are planned, cancelled or replaced at once, what records them must still get one.
enum JobThreads {
  static let planning = queue("Planning")

  /// Recording cancelled entries, and writing reports.
  static let ending = queue("Ending")

  private static func queue(_ name: String) -> OperationQueue {
    let queue = OperationQueue()
    queue.name = name
    queue.maxConcurrentOperationCount = 64
    return queue
  }
}

extension OperationQueue {
  /// Runs `body` when a thread is free.
  /// - Parameter group: Contains it until it has ended.
  func run(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
    group.enter()
    addOperation {
      body()
      group.leave()
    }
  }
}

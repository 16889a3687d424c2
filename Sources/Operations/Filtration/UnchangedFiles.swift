import Dispatch
import Imaging
import Model
import Synchronization
import Transfer

/// Finds files that are the same as when an earlier run made their results, before operations are queued for them: nothing is
/// left to be done for such an entry.
///
/// A file is read and compared by its digest. Times and sizes do not tell: a program may keep them when it changes a file.
final class UnchangedFiles: Sendable {
  /// An entry whose source is a file, and that may have a result.
  struct Candidate: Sendable {
    let record: PhotoRecord
    let earlier: EarlierResults
    let engine: TransferEngine
    let output: OutputOptions
    let limits: ImageLimits

    /// Reads the file, and ends the record if it is unchanged. The operations say what is wrong with it otherwise.
    fileprivate func check() {
      let began = ContinuousClock.now
      record.beginCheck()
      guard let location = try? SourceLocation(parsing: record.url), let outcome = read(location) else { return }
      let read = ContinuousClock.now
      let source = PhotoRecord.Source(outcome)
      let key = ResultKey(of: source.sha256, for: record.entry, output: output)
      guard let delivered = try? earlier.result(of: record.entry, as: key, from: source) else { return }
      guard (try? limits.check(delivered.picture, from: delivered.sourcePicture)) != nil else { return }
      record.usedHost(HostUsage(.success(outcome), taking: began.duration(to: read), from: record.url))
      record.confirm(source, with: delivered, since: began, read: read)
    }

    private func read(_ location: SourceLocation) -> TransferOutcome? {
      let request = TransferRequest(location: location, destination: nil, checksum: record.entry.checksum)
      return try? engine.read(request) { record.state != .new }
    }
  }

  private struct State {
    var waiting: [Candidate] = []
    /// How many files are being read.
    var reading = 0
    var checked: [PhotoRecord] = []
    var threads = 0

    /// Takes the candidate that has waited longest.
    mutating func next() -> Candidate? {
      guard !waiting.isEmpty else { return nil }
      reading += 1
      // There are never many.
      return waiting.removeFirst()
    }
  }

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "Unchanged files", attributes: .concurrent)
  private let report: @Sendable () -> Void

  /// How many files are read at once at most, so that one on a slow disk does not delay the others.
  private static let maxConcurrentFiles = 4

  /// - Parameter report: Called on any thread when there are files to take that have been checked.
  init(report: @escaping @Sendable () -> Void) { self.report = report }

  /// Adds an entry, which is checked after the next `start`.
  func add(_ candidate: Candidate) { state.withLock { $0.waiting.append(candidate) } }

  /// Checks what was added.
  /// - Parameter limit: How many files may be read at once.
  func start(limit: Int) {
    let threads = state.withLock { state in
      let more = max(0, min(min(limit, Self.maxConcurrentFiles) - state.threads, state.waiting.count))
      state.threads += more
      return more
    }
    for _ in 0..<threads { queue.async { [self] in checkWaiting() } }
  }

  private func checkWaiting() {
    while let candidate = next() {
      candidate.check()
      let isFirst = state.withLock { state in
        state.reading -= 1
        state.checked.append(candidate.record)
        return state.checked.count == 1
      }
      if isFirst { report() }
    }
  }

  /// - Returns: nil when the caller's thread is to end.
  private func next() -> Candidate? {
    state.withLock { state in
      let candidate = state.next()
      if candidate == nil { state.threads -= 1 }
      return candidate
    }
  }

  /// Whether no file is being checked.
  var isIdle: Bool { state.withLock { $0.reading == 0 } }

  /// Takes the records of the files that were checked: `filtered`, or in any other state if operations are needed.
  func takeChecked() -> [PhotoRecord] {
    state.withLock { state in
      defer { state.checked = [] }
      return state.checked
    }
  }

  /// Takes the records of the files whose check has not begun.
  func takeWaiting() -> [PhotoRecord] {
    state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting.map(\.record)
    }
  }
}

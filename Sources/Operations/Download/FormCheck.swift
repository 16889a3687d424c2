import Dispatch
import Model
import Synchronization
import Transfer

/// Checks the files of a request's form before it is sent, within a time limit, since a slow disk may need longer.
final class FormCheck: Sendable {
  /// Ends the time limit; nil when no files are being checked.
  private let timer = Mutex<(any DispatchSourceTimer)?>(nil)

  /// - Parameters:
  ///   - queue: The queue on which the time limit ends.
  ///   - completion: Called once on any thread, unless the check is ended before.
  func begin(
    _ request: SourceRequest, by engine: TransferEngine, within limit: Duration, on queue: DispatchQueue,
    completion: @escaping @Sendable (Result<FormFiles, TransferError>) -> Void
  ) {
    let seconds = limit / .seconds(1)
    timer.withLock {
      let timer = DispatchSource.makeTimerSource(queue: queue)
      timer.schedule(deadline: .now() + seconds)
      timer.setEventHandler { [weak self] in
        guard self?.end() == true else { return }
        let reason = "the files of the form could not be opened within \(seconds) s"
        completion(.failure(TransferError(.io, reason, isOfSource: true)))
      }
      timer.resume()
      $0 = timer
    }
    engine.checkFiles(of: request) { [self] in if end() { completion($0) } }
  }

  /// - Returns: Whether files were being checked until now.
  func end() -> Bool {
    timer.withLock { timer in
      timer?.cancel()
      defer { timer = nil }
      return timer != nil
    }
  }
}

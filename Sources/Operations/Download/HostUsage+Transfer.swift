import Model
import Scheduling
import System
import Transfer

extension HostUsage {
  /// - Parameter url: The URL of the first request.
  init(_ result: Result<TransferOutcome, TransferError>, taking time: Duration, from url: String) {
    self.init()
    isOwn = true
    milliseconds = Int(time.milliseconds)
    switch result {
    case .success(let outcome):
      (bytes, requests, firstByte) = (outcome.received, outcome.requests, outcome.answer?.firstByte)
      contact = .answered(outcome.answer, requests)
    case .failure(let error):
      (bytes, requests, firstByte) = (error.bytes, error.requests, error.answer?.firstByte)
      guard error.code != .cancelled, error.code != .io else { return }
      failure = error.code
      if let hostFailure = error.hostFailure {
        // After redirects, the last host may be another one.
        let host = error.finalURL.flatMap(SourceLocation.hostName)
        if host == nil || host == SourceLocation.hostName(of: url) { contact = .failed(hostFailure) }
      } else if let answer = error.answer {
        contact = .answered(answer, requests)
      }
    }
  }
}

extension HostScheduler.Contact {
  fileprivate static func answered(_ answer: HostAnswer?, _ requests: RequestCount) -> Self {
    // The last of several answers may come from another host.
    .answered(
      firstByte: requests.sent == 1 ? answer?.firstByte : nil,
      isMultiplexed: requests.sent == 1 && answer?.isHTTP2 == true)
  }
}

import System

/// The result of a transfer whose body has arrived completely, or has not changed. A body in memory must be `settled`.
package struct TransferOutcome: Sendable, Hashable {
  /// 200; 304 when the request's validators are still valid; 206 when an earlier transfer received the beginning of the body; or
  /// `nil` for a file.
  package let httpStatus: Int?

  /// Whether the server confirms that the source has not changed; nothing was written.
  package var isNotModified: Bool { httpStatus == 304 }

  /// The validators for the next transfer. `nil` for a file, and when the server sent none.
  package let validators: Validators?

  /// Whether the body may be cached: the server did not send `Cache-Control: no-store`. `false` for a file.
  package let mayBeStored: Bool

  /// The URL that returned the body, after redirects, without userinfo.
  package let finalURL: String

  /// The body's length.
  package let bytes: Int

  /// The bytes that came with this transfer; more than `bytes` when the body was started again.
  package let received: Int

  /// The body's SHA-256, 64 lower-case hexadecimal digits; empty when it is not modified, and until `settled` when it is in memory
  /// and was not compared with a checksum.
  package private(set) var sha256: String

  /// The `Content-Type` header, as sent. `nil` for a file.
  package let contentType: String?

  /// The sent requests, redirects included.
  package let requests: RequestCount

  /// The duration of the transfer, without the time it waited for a slot of its host; in seconds.
  package let seconds: Double

  /// The host's answer to the last request. `nil` for a file.
  package let answer: HostAnswer?
}

extension TransferOutcome {
  /// Completes the outcome after the transfer, on any thread: computes the digest of a body in memory, and moves one that does not stay
  /// there to its file.
  /// - Throws: `io` when the file cannot be written.
  package func settled(in store: BodyStore, of location: SourceLocation) throws(TransferError) -> TransferOutcome {
    var outcome = self
    if sha256.isEmpty, !isNotModified {
      store.readHeld { outcome.sha256 = MessageDigest.hexDigest(of: $0) }
    }
    do throws(SystemError) {
      try store.settle()
    } catch {
      var failure = TransferError.unwritten(location.redacted, error)
      (failure.finalURL, failure.httpStatus, failure.answer) = (finalURL, httpStatus, answer)
      (failure.bytes, failure.requests) = (received, requests)
      throw failure
    }
    return outcome
  }
}

extension TransferError {
  /// A body that cannot be written.
  static func unwritten(_ source: String, _ error: SystemError) -> TransferError {
    TransferError(.io, "cannot write what \(source) sends: \(systemMessage(error.code))", systemError: error.code)
  }
}

/// The host's answer to a request.
package struct HostAnswer: Sendable, Hashable {
  /// The time from the beginning of the request to the first byte of its answer, without the time for a connection; in seconds.
  package let firstByte: Double

  /// Whether it came over a connection that carries several requests at once.
  package let isHTTP2: Bool
}

/// The number of requests of a transfer; none for a file, or when every address was refused.
package struct RequestCount: Sendable, Hashable {
  /// All requests, including one for each redirect.
  package var sent = 0

  /// Requests over an open connection.
  package var reused = 0

  package init(sent: Int = 0, reused: Int = 0) { (self.sent, self.reused) = (sent, reused) }
}

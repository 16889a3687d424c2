import Glibc
import Imaging
import Scheduling
import System
import Transfer

/// Why an entry failed. It is reported as a row and never stops the program.
package struct EntryFailure: Error, Sendable, Equatable {
  /// How the program reacts to a failure.
  package enum Disposition: Sendable, Equatable {
    /// Fails, because another try would fail in the same way.
    case final
    /// Tries again later, after the seconds that the server asked for, if any.
    case retry(after: Double?)
    /// Waits with requests to the host, which answered 429, or 503 with `Retry-After`.
    case hostRefused(after: Double?)
    /// Waits until there is space for a file of this program.
    case waitForSpace
    /// Starts the entry again, since the machine failed and not the entry: a disk error, a read-only file system, no
    /// memory or descriptors left, missing permissions for our own files.
    case waitForMachine
    /// Starts the entry again, since the cache's copy was damaged.
    case restart

    /// The disposition of an error with a file that only this program creates and removes.
    init(ownFile cause: ErrorCause) {
      self = cause == .space ? .waitForSpace : cause.isOfMachineForOwnFile ? .waitForMachine : .final
    }
  }

  package let code: FailureCode

  /// For people. Names the thing, the limit and the value.
  package private(set) var message: String
  package var httpStatus: Int?
  /// The URL of the last request, redirects followed, without secrets; nil when none was sent.
  package var finalURL: String?
  /// How often in a row its host had refused requests; nil unless the entry failed for that with tries left.
  var hostRefusals: Int?
  package var disposition = Disposition.final

  /// How the host failed. Default: nil, the entry itself failed.
  package var hostFailure: HostBreaker.Failure?

  package init(
    code: FailureCode, message: String, httpStatus: Int? = nil, finalURL: String? = nil, hostRefusals: Int? = nil,
    disposition: Disposition = Disposition.final, hostFailure: HostBreaker.Failure? = nil
  ) {
    self.code = code
    self.message = message
    self.httpStatus = httpStatus
    self.finalURL = finalURL
    self.hostRefusals = hostRefusals
    self.disposition = disposition
    self.hostFailure = hostFailure
  }

  /// Whether the same request may succeed later.
  package var isRetryable: Bool {
    switch disposition {
    case .retry, .hostRefused: true
    case .final, .waitForSpace, .waitForMachine, .restart: false
    }
  }

  /// The same failure of another entry with the same request, whose URL may be written otherwise.
  package func naming(_ url: String, insteadOf other: String) -> EntryFailure {
    // Of entries with one `cache-key` only the other URL was requested.
    guard url != other, let own = try? SourceLocation(parsing: url), let asked = try? SourceLocation(parsing: other),
      own.requestText == asked.requestText
    else { return self }
    var failure = self
    // Not where it is the beginning of a longer URL.
    for end in [" ", ": ", ", ", "; ", ")"] {
      failure.message = failure.message.replacing(asked.redacted + end, with: own.redacted + end)
    }
    return failure
  }

  /// Whether the host asked to wait with requests.
  package var isHostRefusal: Bool { if case .hostRefused = disposition { true } else { false } }

  /// Whether the machine, not the entry, failed. The entry is started again, and no row reports the failure.
  package var isOfMachine: Bool { disposition == .waitForSpace || disposition == .waitForMachine }
}

extension EntryFailure {
  package init(_ error: TransferError) {
    code = error.code == .io ? .io : .download(error.code)
    message = error.message
    httpStatus = error.httpStatus
    finalURL = error.finalURL
    hostFailure = error.hostFailure
    disposition =
      if let number = error.systemError, error.code == .io, !error.isOfSource {
        Disposition(ownFile: ErrorCause(errno: number))
      } else if let number = error.systemError, error.isOfSource, ErrorCause(errno: number) == .exhaustion {
        .waitForMachine
      } else if !error.isRetryable {
        .final
      } else if error.isHostRefusal {
        .hostRefused(after: error.retryAfter)
      } else {
        .retry(after: error.retryAfter)
      }
  }

  init(_ error: ImagingError) {
    code = error.code == .io ? .io : .filter(error.code)
    message = error.message
    if error.code == .io { disposition = Disposition(ownFile: ErrorCause(errno: error.systemError)) }
  }

  /// The failure of an operation with a file of this program, such as one in staging.
  package init(_ error: any LocalError) {
    code = .io
    message = "\(error)"
    disposition = Disposition(ownFile: error.cause)
  }

  /// The failure that corresponds to an error thrown by an operation.
  /// - Parameter code: The code of an error of no known type.
  package init(_ error: any Error, otherwise code: FailureCode) {
    switch error {
    case let failure as EntryFailure: self = failure
    case let error as TransferError: self.init(error)
    case let error as ImagingError: self.init(error)
    case let error as any LocalError: self.init(error)
    default: self.init(code: code, message: "\(error)")
    }
  }

  /// The same failure, for an entry that is not tried any more because its host was given up.
  package var ofGivenUpHost: EntryFailure {
    EntryFailure(
      code: code, message: "not tried any more, since its host is failing: \(message)", httpStatus: httpStatus,
      disposition: disposition, hostFailure: hostFailure)
  }

  /// The cache's copy is missing or damaged.
  package static let cache = EntryFailure(
    code: .io, message: "the cache's copy of the source is damaged", disposition: .restart)

  /// The file of a download in staging has another size than what was downloaded.
  package static let changedDownload = EntryFailure(
    code: .io, message: "the downloaded source was changed before it was copied", disposition: .restart)

  /// An entry that must succeed before this one failed.
  /// - Parameters:
  ///   - name: Its name.
  ///   - cause: The name of the entry that caused its failure; nil when it failed by itself.
  package static func dependency(_ name: String, cause: String?) -> EntryFailure {
    let reason = cause.map { ", because of \"\($0)\"" } ?? ""
    return EntryFailure(
      code: .dependencyFailed, message: "\"\(name)\" must succeed first, and did not\(reason)")
  }

  /// The final name is taken by a file that this job did not deliver.
  package static func conflict(_ message: String) -> EntryFailure {
    EntryFailure(code: .nameConflict, message: message)
  }
}

extension TransferError {
  /// How the host of the last request failed; nil when it did not.
  package var hostFailure: HostBreaker.Failure? {
    switch proxyFailure {
    case .unreachable?: return .noProxy
    // The address of a proxy that cannot be resolved will not appear by waiting.
    case .unresolved?: return .refused
    case nil: break
    }
    let wasSent = requests.sent > 0
    switch code {
    case .timeout: return isUnresolved ? .unresolved : !wasSent ? .unanswered : answer == nil ? .silent : .broken
    // When the host has answered before, the handshake was cut off, or another machine answered.
    case .hostNotFound, .tls: return .refused
    case .dns: return .unresolved
    case .connect: return systemError == ENETUNREACH ? .noNetwork : .refused
    case .network, .truncated: return wasSent ? .broken : .refused
    case .httpStatus:
      switch httpStatus {
      case 502, 504, 511: return .broken
      case 503 where retryAfter == nil: return .broken
      default: return nil
      }
    default: return nil
    }
  }
}

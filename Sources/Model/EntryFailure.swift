import Glibc
import Imaging
import Scheduling
import System
import Transfer

/// Why an entry failed: a row of the report, never a reason to stop the program.
package struct EntryFailure: Error, Sendable, Equatable {
  /// What follows from a failure.
  package enum Disposition: Sendable, Equatable {
    /// The same would fail again.
    case final
    /// It may succeed later: after the seconds that the server asked for, if it did.
    case retry(after: Double?)
    /// The host asks not to be asked for a while: with 429, or with 503 and `Retry-After`.
    case hostRefused(after: Double?)
    /// There was no room for a file of ours: the entry waits until there is.
    case waitForSpace
    /// The machine failed, and it says nothing about the entry, which is started again: a disk error, a read-only file system,
    /// no memory or descriptor left, permissions that were taken away.
    case waitForMachine
    /// It says nothing about the entry, which is started again: the cache's copy was no good.
    case restart

    /// What follows from an error with a file that only this program makes and removes.
    init(ownFile cause: ErrorCause) {
      self = cause == .space ? .waitForSpace : cause.isOfMachineForOwnFile ? .waitForMachine : .final
    }
  }

  package let code: FailureCode

  /// For people; names the thing, the limit and the value.
  package let message: String
  package var httpStatus: Int?
  /// The URL that was asked last, redirects followed, without secrets; nil when nothing was asked.
  package var finalURL: String?
  /// How often in a row its host had refused requests when the entry was given up for that, if the entry itself was tried
  /// less often; else nil.
  var hostRefusals: Int?
  package var disposition = Disposition.final

  /// How its host failed. Default: nil, it did not: the failure is the entry's own.
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

  /// Whether the host asks not to be asked for a while.
  package var isHostRefusal: Bool { if case .hostRefused = disposition { true } else { false } }

  /// Whether it is nobody's: no row says so, and the entry is started again.
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

  /// What went wrong with a file of ours, such as one in staging.
  package init(_ error: any LocalError) {
    code = .io
    message = "\(error)"
    disposition = Disposition(ownFile: error.cause)
  }

  /// What an operation threw.
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

  /// The same failure, of an entry that was not tried because its host was given up.
  package var ofGivenUpHost: EntryFailure {
    EntryFailure(
      code: code, message: "not tried, since its host does not answer: \(message)", httpStatus: httpStatus,
      disposition: disposition, hostFailure: hostFailure)
  }

  /// What the cache had is missing or damaged.
  package static let cache = EntryFailure(
    code: .io, message: "the cache's copy of the source is damaged", disposition: .restart)

  /// An entry that this one comes after has not succeeded.
  /// - Parameters:
  ///   - name: Its name.
  ///   - cause: The name of the entry because of which it has failed; nil when it failed by itself.
  package static func dependency(_ name: String, cause: String?) -> EntryFailure {
    let reason = cause.map { ", because of \"\($0)\"" } ?? ""
    return EntryFailure(
      code: .dependencyFailed, message: "\"\(name)\" must succeed first, and did not\(reason)")
  }

  /// A final name that is taken by something that is not ours.
  package static func conflict(_ message: String) -> EntryFailure {
    EntryFailure(code: .nameConflict, message: message)
  }
}

extension TransferError {
  /// How the host of the last request failed. Default: nil, it did not.
  package var hostFailure: HostBreaker.Failure? {
    switch proxyFailure {
    case .unreachable?: return .noProxy
    // Waiting does not give it an address.
    case .unresolved?: return .refused
    case nil: break
    }
    let wasSent = requests.sent > 0
    switch code {
    case .timeout: return isUnresolved ? .unresolved : !wasSent ? .unanswered : answer == nil ? .silent : .broken
    // A handshake that fails at a host that has answered is cut off, or ends at some other machine.
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

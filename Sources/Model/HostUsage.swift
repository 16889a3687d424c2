import Scheduling
import Transfer

/// How one try of an entry used its host.
package struct HostUsage: Sendable, Equatable {
  /// Whether the transfer was made for this entry, and not for another one with the same request.
  package var isOwn = false
  package var milliseconds = 0
  package var requests = RequestCount()
  package var bytes = 0

  /// Why the transfer failed; nil when it succeeded, or failed for a reason other than the host.
  package var failure: TransferError.Code?

  /// Seconds from the beginning of the last request to the first byte of its answer; nil without an answer.
  package var firstByte: Double?

  /// Whether the host answered.
  package var contact = HostScheduler.Contact.unknown

  package init(isOwn: Bool = false, contact: HostScheduler.Contact = .unknown) {
    (self.isOwn, self.contact) = (isOwn, contact)
  }
}

import Scheduling
import Transfer

/// What one try of an entry took from its host.
package struct HostUsage: Sendable, Equatable {
  /// Whether something was transferred for this entry, and not for another one with the same request.
  package var isOwn = false
  package var milliseconds = 0
  package var requests = RequestCount()
  package var bytes = 0

  /// Why the transfer failed; nil when it did not, or not because of the host.
  package var failure: TransferError.Code?

  /// From the beginning of the last request to the first byte of its answer, in seconds; nil without an answer.
  package var firstByte: Double?

  /// What it says of whether the host answers.
  package var contact = HostScheduler.Contact.unknown

  package init(isOwn: Bool = false, contact: HostScheduler.Contact = .unknown) {
    (self.isOwn, self.contact) = (isOwn, contact)
  }
}

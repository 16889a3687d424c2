import Scheduling
import Transfer

/// What one try of an entry took from its host.
struct HostUsage: Sendable, Equatable {
  /// Whether something was transferred for this entry, and not for another one with the same request.
  var isOwn = false
  var milliseconds = 0
  var requests = RequestCount()
  var bytes = 0

  /// Why the transfer failed; nil when it did not, or not because of the host.
  var failure: TransferError.Code?

  /// From the beginning of the last request to the first byte of its answer, in seconds; nil without an answer.
  var firstByte: Double?

  /// What it says of whether the host answers.
  var contact = HostScheduler.Contact.unknown
}

/// What of a job can start, or waits.
package struct JobBacklog: Equatable, Sendable {
  /// Whether an entry would start if there was a place for it in the queues.
  package var isReady = false

  /// Why entries wait for room at hosts; nil when none does.
  package var shortage: HostShortage?

  /// The host at which they wait, or that is on hold; nil when that are several.
  package var host: Int?

  /// How many entries wait to be tried again.
  package var retries = 0

  /// Whether a host is on hold to which such entries belong.
  package var isHeld = false

  /// The only host at which something is left; nil when there are several.
  package var onlyHost: Int?

  package init() {}
}

import Transfer

/// What one try of an entry took from its host.
struct HostUsage: Sendable, Equatable {
  var milliseconds = 0
  var requests = RequestCount()
  var bytes = 0
}

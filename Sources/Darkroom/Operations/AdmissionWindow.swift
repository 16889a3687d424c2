import Glibc

/// How many entries may be under way at once. Scheduling rescans operations that are not ready, so a whole manifest is
/// never enqueued: 13 µs of CPU per pair of operations with 64 pairs pending, 38 with 1024.
struct AdmissionWindow: Sendable {
  /// Entries in the queues at most.
  let entries: Int

  /// Entries in the queues and on their way to the outbox at most: each holds up to two of the process's descriptors.
  let holders: Int

  /// Bytes at most that are downloaded and not yet filtered.
  let bytes = 256 << 20

  /// - Parameter descriptors: How many the process may have.
  init(downloads: Int, filtrations: Int, descriptors: Int = Self.descriptorLimit) {
    holders = max(2, min(256, (descriptors - 64) / 3))
    entries = min(2 * (downloads + filtrations) + 8, holders)
  }

  func hasRoom(entries count: Int, undelivered: Int, bytesWaiting: () -> Int) -> Bool {
    count < entries && count + undelivered < holders && bytesWaiting() < bytes
  }

  private static var descriptorLimit: Int {
    var limit = rlimit()
    return getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? Int(clamping: limit.rlim_cur) : 256
  }
}

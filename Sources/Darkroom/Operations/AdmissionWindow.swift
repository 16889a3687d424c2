/// How many entries may be in the queues at once. Scheduling rescans operations that are not ready, so a whole manifest
/// is never enqueued: 13 µs of CPU per pair of operations with 64 pairs pending, 38 with 1024.
struct AdmissionWindow: Sendable {
  /// Entries in the queues at most.
  let entries: Int

  /// Bytes at most that are downloaded and not yet filtered.
  let bytes = 256 << 20

  init(downloads: Int, filtrations: Int) { entries = 2 * (downloads + filtrations) + 8 }

  func hasRoom(entries count: Int, bytesWaiting: () -> Int) -> Bool {
    count < entries && bytesWaiting() < bytes
  }
}

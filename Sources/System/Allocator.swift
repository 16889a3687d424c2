import CLinux

/// How the C library's allocator retains memory.
package enum Allocator {
  /// Returns freed memory to the system (`mallopt`). By default malloc learns from every large freed block to retain more: with
  /// 20 000 entries instead of 1000 the peak grew by 15 MiB, now by 2; the time is the same.
  package static func giveBackMemory() { mallopt(M_TRIM_THRESHOLD, 256 << 10) }

  /// Returns all freed memory of every thread, also between blocks that are in use (`malloc_trim`): for use after many small
  /// blocks were freed. Concurrent allocations may wait some milliseconds.
  package static func giveBackFreed() { malloc_trim(0) }

  /// Retains freed memory, up to 8 MiB, and takes blocks up to 4 MiB from it: for a process that repeats the same work,
  /// mapping and clearing pages takes longer than the work on them.
  package static func keepMemory() {
    mallopt(M_MMAP_THRESHOLD, 4 << 20)
    mallopt(M_TRIM_THRESHOLD, 8 << 20)
  }
}

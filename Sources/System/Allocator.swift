import CLinux

/// How the C library's allocator retains memory.
package enum Allocator {
  /// Returns freed memory to the system beyond 1 MiB (`mallopt`). By default malloc learns from every large freed block to retain
  /// more: with 20 000 entries instead of 1000 the peak grew by 15 MiB, now by 2. With less than 1 MiB, the pages of bodies of
  /// 100 KB are returned and mapped again for each.
  package static func giveBackMemory() { mallopt(M_TRIM_THRESHOLD, 1 << 20) }

  /// Returns all freed memory of every thread, also between blocks that are in use (`malloc_trim`): for use after many small
  /// blocks were freed. Concurrent allocations may wait some milliseconds.
  package static func giveBackFreed() { malloc_trim(0) }

  /// Retains freed memory, up to 16 MiB, and takes blocks up to 16 MiB from it: for a process that repeats the same work,
  /// mapping and clearing pages takes longer than the work on them. A progressive JPEG of 1280 × 960 pixels without subsampling
  /// has blocks of 7 MiB.
  package static func keepMemory() {
    mallopt(M_MMAP_THRESHOLD, 16 << 20)
    mallopt(M_TRIM_THRESHOLD, 16 << 20)
  }
}

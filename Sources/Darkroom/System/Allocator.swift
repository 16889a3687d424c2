import CLinux

/// How the C library's allocator keeps memory.
package enum Allocator {
  /// Has freed memory beyond 2 MiB of an arena given back (`mallopt`), and blocks up to 4 MiB, such as the coefficients
  /// of a progressive JPEG or a file's buffer, taken from what is kept.
  ///
  /// By default malloc learns from every large block that is freed to keep more for later: with 20 000 entries instead
  /// of 1000 the peak grew by 15 MiB, now by 7. Kept at 256 KiB it grew by 2, but new pages for every picture took 8 % of
  /// the CPU time of photographs and 16 % of that of tiny pictures.
  package static func limitKeptMemory() {
    mallopt(M_TRIM_THRESHOLD, 2 << 20)
    mallopt(M_MMAP_THRESHOLD, 4 << 20)
  }
}

import Foundation
import TestSupport

/// A wall clock that can be set while a process runs, by a library that is loaded before others (`LD_PRELOAD`). The
/// monotonic clock goes on as it does.
struct MovedClock {
  private let folder: TemporaryFolder
  private var offset: String { folder.file("offset") }

  /// Has a process read this clock.
  var environment: [String: String] { ["LD_PRELOAD": folder.file("clock.so"), "CLOCK_OFFSET": offset] }

  init() throws {
    folder = try TemporaryFolder()
    try set(0)
    try folder.write(Self.source, as: "clock.c")
    let (compiler, _) = try Process.launch(
      "/usr/bin/env",
      [
        "cc", "-shared", "-fPIC", "-O1", "-o", folder.file("clock.so"), folder.file("clock.c"),
      ]
    ) { _ in }
    compiler.waitUntilExit()
    guard compiler.terminationStatus == 0 else { throw POSIXError(.ENOEXEC) }
  }

  /// Sets the clock to so many seconds after the true time.
  func set(_ seconds: Int64) throws {
    let file = open(offset, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(file) }
    var seconds = seconds
    guard file >= 0, pwrite(file, &seconds, 8, 0) == 8 else { throw POSIXError(.EIO) }
  }

  private static let source = """
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <stdint.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    #include <sys/syscall.h>
    #include <sys/time.h>
    #include <time.h>
    #include <unistd.h>

    static volatile int64_t *offset;

    __attribute__((constructor)) static void begin(void) {
      const char *path = getenv("CLOCK_OFFSET");
      int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
      void *map = file < 0 ? MAP_FAILED : mmap(NULL, 8, PROT_READ, MAP_SHARED, file, 0);
      if (map != MAP_FAILED) offset = map;
    }

    int clock_gettime(clockid_t clock, struct timespec *time) {
      int result = syscall(SYS_clock_gettime, clock, time);
      int isWall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
      if (result == 0 && isWall && offset) time->tv_sec += *offset;
      return result;
    }

    int gettimeofday(struct timeval *restrict time, void *restrict zone) {
      struct timespec now;
      int result = clock_gettime(CLOCK_REALTIME, &now);
      if (time) { time->tv_sec = now.tv_sec; time->tv_usec = now.tv_nsec / 1000; }
      return result;
    }

    time_t time(time_t *result) {
      struct timespec now;
      clock_gettime(CLOCK_REALTIME, &now);
      if (result) *result = now.tv_sec;
      return now.tv_sec;
    }
    """
}

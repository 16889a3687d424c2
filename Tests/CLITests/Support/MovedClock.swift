import Foundation
import TestSupport

/// A clock that can be set while a process runs, by a library that is loaded before others (`LD_PRELOAD`). The other clock
/// goes on as it does.
struct MovedClock {
  /// Which clock it is. The monotonic one tells how long something has lasted; waits of the kernel take their time.
  enum Kind: String { case wall, monotonic }

  private let kind: Kind
  private let folder: TemporaryFolder
  private var offset: String { folder.file("offset") }

  /// Has a process read this clock.
  var environment: [String: String] {
    ["LD_PRELOAD": folder.file("clock.so"), "CLOCK_OFFSET": offset, "CLOCK_KIND": kind.rawValue]
  }

  init(_ kind: Kind = .wall) throws {
    self.kind = kind
    folder = try TemporaryFolder()
    try set(0)
    try folder.write(Self.source, as: "clock.c")
    let arguments = ["cc", "-shared", "-fPIC", "-O1", "-o", folder.file("clock.so"), folder.file("clock.c")]
    guard try SpawnedProcess.run("/usr/bin/env", arguments) == 0 else { throw POSIXError(.ENOEXEC) }
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
    static int isMonotonic;

    __attribute__((constructor)) static void begin(void) {
      const char *path = getenv("CLOCK_OFFSET");
      int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
      void *map = file < 0 ? MAP_FAILED : mmap(NULL, 8, PROT_READ, MAP_SHARED, file, 0);
      if (map != MAP_FAILED) offset = map;
      const char *kind = getenv("CLOCK_KIND");
      isMonotonic = kind && kind[0] == 'm';
    }

    int clock_gettime(clockid_t clock, struct timespec *time) {
      int result = syscall(SYS_clock_gettime, clock, time);
      int isWall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
      int isMoved = isMonotonic ? clock == CLOCK_MONOTONIC : isWall;
      if (result == 0 && isMoved && offset) time->tv_sec += *offset;
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

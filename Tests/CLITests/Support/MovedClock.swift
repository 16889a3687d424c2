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
    #include <link.h>
    #include <stdint.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <sys/syscall.h>
    #include <sys/time.h>
    #include <time.h>
    #include <unistd.h>

    static volatile int64_t *offset;
    static int isMonotonic;

    // The code of libdispatch: it counts from this clock when its timers are due, and the kernel has its own.
    static uintptr_t dispatchBegin, dispatchEnd;

    static int findDispatch(struct dl_phdr_info *library, size_t size, void *unused) {
      if (!strstr(library->dlpi_name, "libdispatch")) return 0;
      for (int part = 0; part < library->dlpi_phnum; part++) {
        const ElfW(Phdr) *header = &library->dlpi_phdr[part];
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X)) continue;
        dispatchBegin = library->dlpi_addr + header->p_vaddr;
        dispatchEnd = dispatchBegin + header->p_memsz;
      }
      return 1;
    }

    __attribute__((constructor)) static void begin(void) {
      const char *path = getenv("CLOCK_OFFSET");
      int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
      void *map = file < 0 ? MAP_FAILED : mmap(NULL, 8, PROT_READ, MAP_SHARED, file, 0);
      if (map != MAP_FAILED) offset = map;
      const char *kind = getenv("CLOCK_KIND");
      isMonotonic = kind && kind[0] == 'm';
      dl_iterate_phdr(findDispatch, NULL);
    }

    int clock_gettime(clockid_t clock, struct timespec *time) {
      uintptr_t caller = (uintptr_t)__builtin_return_address(0);
      int result = syscall(SYS_clock_gettime, clock, time);
      int isWall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
      int isMoved = isMonotonic ? clock == CLOCK_MONOTONIC : isWall;
      if (caller >= dispatchBegin && caller < dispatchEnd) isMoved = 0;
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

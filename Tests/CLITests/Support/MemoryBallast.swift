import Foundation
import TestSupport

/// A process in a control group that takes so much memory that 96 % of the group's limit are in use, the pages of files not
/// counted. It ends when the value is released.
final class MemoryBallast: Sendable {
  private let process: SpawnedProcess

  /// Returns when the group is that full.
  /// - Throws: `EndedEarly`, `POSIXError`.
  init(in group: MemoryGroup) throws {
    let output = Pipe()
    process = try SpawnedProcess(
      "/usr/bin/env", ["python3", "-c", Self.script, group.processes], output: .pipe(output))
    guard output.fileHandleForReading.availableData == Data("full\n".utf8) else { throw EndedEarly() }
  }

  deinit {
    process.send(SIGKILL)
    process.wait()
  }

  /// The process could not take the memory.
  struct EndedEarly: Error {}

  private static let script = """
    import os, sys, time

    parent = os.getppid()
    group = os.path.dirname(sys.argv[1])
    with open(sys.argv[1], "w") as file:
        file.write(str(os.getpid()))
    if os.path.exists(group + "/memory.limit_in_bytes"):
        limit, usage, files = "memory.limit_in_bytes", "memory.usage_in_bytes", ("total_active_file", "total_inactive_file")
    else:
        limit, usage, files = "memory.max", "memory.current", ("active_file", "inactive_file")

    def read(name):
        with open(group + "/" + name) as file:
            return file.read()

    def used():
        lines = (line.split() for line in read("memory.stat").splitlines())
        return int(read(usage)) - sum(int(value) for name, value in lines if name in files)

    held, is_full = [], False
    while os.getppid() == parent:
        missing = int(read(limit)) * 96 // 100 - used()
        if missing > 0:
            held.append(b"x" * missing)
        elif is_full:
            time.sleep(0.1)
        else:
            is_full = True
            os.write(1, b"full\\n")
    """
}

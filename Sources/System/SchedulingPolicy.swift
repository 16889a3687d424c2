import CLinux

/// How the kernel chooses between the threads of this process and others (`sched(7)`).
package enum SchedulingPolicy {
  /// Sets `SCHED_BATCH`, for the calling thread and for the threads and processes that it starts: a thread that wakes up waits for
  /// its turn instead of interrupting another one, so that more work has collected when it runs. Any policy but the usual one was
  /// chosen by whoever started the program, and stays.
  package static func preferThroughput() { clinux_use_batch_scheduling() }
}

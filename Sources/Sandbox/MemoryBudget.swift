import Glibc
import System

/// The memory that pictures may take, derived from what the machine, or the control group of the process, has.
package struct MemoryBudget: Sendable, Equatable {
  /// Bytes that are shared by all pictures of which much is held.
  package let shared: Int

  /// Bytes for each worker besides.
  package let perWorker: Int

  /// Half of what there is, a gibibyte at most, is for whole pictures; a quarter, 256 MiB for each at most, for what workers
  /// need otherwise.
  /// - Parameters:
  ///   - available: Bytes that the process and its workers may use.
  ///   - workers: How many workers there are.
  package init(available: Int, workers: Int) {
    shared = min(1 << 30, available / 2)
    perWorker = min(256 << 20, max(48 << 20, available / 4 / max(1, workers)))
  }

  /// What the machine has or, when that is less, what the control group of this process may use.
  package static var available: Int {
    let machine = sysconf(Int32(_SC_PHYS_PAGES)) * Int(getpagesize())
    return min(machine > 0 ? machine : .max, ControlGroup.memoryLimit() ?? .max)
  }
}

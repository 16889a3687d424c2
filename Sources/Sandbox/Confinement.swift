import CSandbox
import Glibc

/// What the kernel keeps a process from, for good. The sets of several measures add up.
package struct Confinement: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// System calls other than those that a decoder needs (seccomp).
  package static let systemCalls = Confinement(rawValue: 1)
  /// Files and, with newer kernels, the network (Landlock).
  package static let files = Confinement(rawValue: 2)
  /// Privileges of programs that it would start (`PR_SET_NO_NEW_PRIVS`).
  package static let privileges = Confinement(rawValue: 4)

  /// The measures by name, for `status`.
  package var names: [String] {
    let all: [(Confinement, String)] = [(.systemCalls, "seccomp"), (.files, "landlock"), (.privileges, "no-new-privs")]
    return all.filter { contains($0.0) }.map(\.1)
  }

  /// Whether the program was built with the address or the thread sanitizer.
  package static let isSanitized = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
}

extension Confinement {
  /// Confines a process in two steps: what its forks inherit, and what has to be done in each of them. What the kernel does
  /// not have is left out, and nothing is done when the program was built with a sanitizer: that opens files and reserves
  /// memory whenever it likes.
  struct Steps {
    private var measures: Confinement = []
    private var usedMemory: UInt64 = 0

    /// Takes files, the network, privileges and most system calls from this process. It can fork still, and open nothing.
    init() {
      csandbox_handle_signals()
      guard !isSanitized else { return }
      usedMemory = UInt64(ProcessLimits.dataBytes)
      // When memory is short, the kernel is to end a worker and not the program.
      if let file = fopen("/proc/self/oom_score_adj", "we") {
        fputs("500", file)
        fclose(file)
      }
      if csandbox_prepare_filter() == 0 { measures.insert(.systemCalls) }
      if csandbox_give_up_privileges() == 1 { measures.insert(.privileges) }
      if csandbox_deny_files() == 0 { measures.insert(.files) }
      // What it has not is left out in each worker, too, which gets a stricter filter.
      if measures.contains([.systemCalls, .privileges]) { _ = csandbox_filter_server() }
    }

    /// Confines this process to what it has: its memory, and the descriptors that it is sent. To be called before the
    /// first byte from outside is read.
    /// - Returns: What holds from now on.
    func finish(_ limits: ProcessLimits) -> Confinement {
      guard !isSanitized else { return [] }
      limits.apply(used: usedMemory)
      var measures = measures
      if measures.contains(.systemCalls), csandbox_filter_system_calls() != 0 { measures.remove(.systemCalls) }
      return measures
    }
  }
}

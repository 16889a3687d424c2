import CSandbox
import Glibc

/// The kernel's permanent restrictions of a process. Sets of several measures add up.
package struct Confinement: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// System calls other than a decoder's (seccomp).
  package static let systemCalls = Confinement(rawValue: 1)
  /// Files and, with newer kernels, the network (Landlock).
  package static let files = Confinement(rawValue: 2)
  /// Privileges of programs that it starts (`PR_SET_NO_NEW_PRIVS`).
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
  /// Confines a process in two steps: one that its forks inherit, and one for each of them. Measures that the kernel lacks are
  /// left out. Nothing is confined when the program was built with a sanitizer, which opens files and reserves memory at any
  /// time.
  struct Steps {
    private var measures: Confinement = []
    private var usedMemory: UInt64 = 0

    /// Removes access to files, the network, privileges and most system calls. The process can still fork, but open nothing.
    init() {
      csandbox_handle_signals()
      guard !isSanitized else { return }
      usedMemory = UInt64(ProcessLimits.dataBytes)
      // When memory is short, the kernel should end a worker, not the program.
      if let file = fopen("/proc/self/oom_score_adj", "we") {
        fputs("500", file)
        fclose(file)
      }
      if csandbox_prepare_filter() == 0 { measures.insert(.systemCalls) }
      if csandbox_give_up_privileges() == 1 { measures.insert(.privileges) }
      if csandbox_deny_files() == 0 { measures.insert(.files) }
      // Measures that it lacks are left out in each worker, too, which gets a stricter filter.
      if measures.contains([.systemCalls, .privileges]) { _ = csandbox_filter_server() }
    }

    /// Confines this process to its memory and the descriptors that it is sent. Call it before the first byte from outside is
    /// read.
    /// - Returns: The measures in effect.
    func finish(_ limits: ProcessLimits) -> Confinement {
      guard !isSanitized else { return [] }
      limits.apply(used: usedMemory)
      var measures = measures
      if measures.contains(.systemCalls), csandbox_filter_system_calls() != 0 { measures.remove(.systemCalls) }
      return measures
    }
  }
}

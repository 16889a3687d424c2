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

  /// Confines this process to what it has: its memory, and the descriptors that it is sent. To be called before the first
  /// byte from outside is read. What the kernel does not have is left out, and nothing is when the program was built with
  /// a sanitizer: that opens files and reserves memory whenever it likes.
  /// - Parameter limits: What it may use.
  /// - Returns: What holds from now on.
  package static func apply(_ limits: ProcessLimits) -> Confinement {
    csandbox_handle_signals()
    if isSanitized { return [] }
    limits.apply()
    var measures: Confinement = []
    if csandbox_give_up_privileges() == 1 { measures.insert(.privileges) }
    if csandbox_deny_files() == 0 { measures.insert(.files) }
    if csandbox_filter_system_calls() == 0 { measures.insert(.systemCalls) }
    return measures
  }

  /// Whether the program was built with the address or the thread sanitizer.
  package static let isSanitized = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
}

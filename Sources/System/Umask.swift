import Foundation
import Glibc

/// The process's umask, which nothing here changes.
package enum Umask {
  /// Read from `/proc`: the system call sets another one, which files would get that other threads create meanwhile. Where that
  /// is missing, 077.
  package static let current: mode_t = {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("Umask:") }
    return line.flatMap { mode_t($0.dropFirst("Umask:".count).trimmingCharacters(in: .whitespaces), radix: 8) } ?? 0o077
  }()
}

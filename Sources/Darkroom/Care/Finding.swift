/// A result of a check of the installation.
package struct Finding: Sendable, Equatable {
  package enum Level: String, Sendable, Comparable {
    case ok
    /// It works, with a restriction.
    case warning
    /// It does not work.
    case failed

    package static func < (one: Level, other: Level) -> Bool { one.order < other.order }

    private var order: Int { self == .ok ? 0 : self == .warning ? 1 : 2 }
  }

  package let level: Level

  /// What was checked, in a word or two: the key for scripts.
  package let subject: String
  package let message: String

  /// What to do; nil when nothing needs to be done.
  package let remedy: String?

  package init(_ level: Level, _ subject: String, _ message: String, remedy: String? = nil) {
    (self.level, self.subject, self.message, self.remedy) = (level, subject, message, remedy)
  }

  /// What is as it should be.
  package init(_ subject: String, _ message: String) { self.init(.ok, subject, message) }
}

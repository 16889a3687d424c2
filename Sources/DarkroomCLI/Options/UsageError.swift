/// A command line, or an environment variable, that cannot be understood.
struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

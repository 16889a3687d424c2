import System
import Transfer

/// An invalid command line, environment variable or configuration file.
struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
  let description: String

  /// - Parameter description: What is wrong; user names and passwords of URLs in it are replaced.
  init(_ description: String) { self.description = SourceLocation.redacted(message: description) }

  /// An unknown name, such as `unknown option "--filter"; did you mean "--filters"?` For names that are too many to list.
  /// - Parameter prefix: The common prefix of all names; not compared.
  static func unknown(_ what: String, _ name: String, prefix: String = "", among known: [String]) -> UsageError {
    let nearest = NearestName.nearest(
      to: String(name.dropFirst(prefix.count)), among: known.map { String($0.dropFirst(prefix.count)) })
    return UsageError("unknown \(what) \"\(name)\"" + (nearest.map { "; did you mean \"\(prefix)\($0)\"?" } ?? ""))
  }
}

import System

/// What keeps a job from beginning: something in the outbox has the name of one of its folders or of its log, and is
/// something else. It is left as it is.
struct FolderObstacle: Error, Sendable, Equatable, CustomStringConvertible {
  /// The path of what is in the way.
  let path: String

  /// What that is.
  let kind: FileStatus.Kind

  var description: String {
    let what =
      switch kind {
      case .link: "a symbolic link"
      case .other: "something unknown"
      default: "a \(kind)"
      }
    return "\(path) is \(what), and is left as it is: move it away"
  }
}

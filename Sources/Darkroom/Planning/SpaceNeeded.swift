import System

/// A manifest whose copy or index does not fit what is free now.
struct SpaceNeeded: LocalError, CustomStringConvertible {
  /// How many bytes must be free in the state folder's file system, besides `--min-free`.
  let bytes: Int
  let file: String

  var cause: ErrorCause { .space }

  var description: String { "\(file) needs \(ByteCount(bytes)) in the state folder, and there is less" }
}

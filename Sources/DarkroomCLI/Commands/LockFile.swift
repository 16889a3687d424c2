/// The lock that `pause` and `resume` are about.
enum LockFile {
  /// The path of the lock that the operand names.
  /// - Throws: `UsageError` for a name that is not that of a file in the inbox; `StopError.missing`.
  static func path(_ invocation: Invocation) throws -> String {
    guard invocation.operands.count <= 1 else {
      throw UsageError("one name at most, not \(invocation.operands.count)")
    }
    let name = invocation.operands.first ?? "pause"
    guard !name.isEmpty, !name.contains("/"), !name.contains("\0"), name.utf8.count <= 250 else {
      throw UsageError("\"\(name)\" is no name for a lock in the inbox")
    }
    let file = name.lowercased().hasSuffix(".lock") ? name : name + ".lock"
    return try invocation.settings.resolvedInbox() + "/" + file
  }
}

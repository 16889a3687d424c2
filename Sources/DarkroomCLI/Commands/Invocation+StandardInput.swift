import Darkroom

extension Invocation {
  /// The manifest that the operand `-` stands for, read to its end; nil without one.
  /// - Throws: `UsageError` when there are several; `StopError.missing` when it cannot be read; `SystemError`.
  func standardInput() throws -> StandardInputManifest? {
    let count = operands.filter { $0 == "-" }.count
    guard count <= 1 else { throw UsageError("standard input is read once: - is given \(count) times") }
    return count == 1 ? try StandardInputManifest() : nil
  }
}

extension Settings {
  /// The name that a job is given; nil for none.
  /// - Throws: `UsageError` for one that no manifest in the inbox can have.
  func checkedJobName() throws -> String? {
    guard let name = jobName else { return nil }
    guard !name.hasPrefix("."), !name.contains("/"), !name.contains("\0"), name.utf8.count <= 200, !name.isEmpty,
      name.lowercased() != "index.html"
    else {
      throw UsageError("--name \"\(name)\" is not a name for a file in the inbox")
    }
    return name
  }
}

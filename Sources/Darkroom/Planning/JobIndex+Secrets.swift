import Database
import JSON
import Transfer

extension JobIndex {
  /// Whether an entry has something that only its owner is to read: headers, a body, a form, or a user name or password in
  /// one of its URLs.
  /// - Throws: `SQLiteError`, `JSONError`.
  func hasSecrets() throws -> Bool {
    var hasSecrets = false
    try database.run("SELECT url FROM entries WHERE instr(url, '@') > 0") { row in
      hasSecrets = hasSecrets || Self.holdsSecret(row.text(0) ?? "")
    }
    if hasSecrets { return true }
    // Equal requests are kept once.
    try database.run("SELECT text FROM requests") { row in
      guard !hasSecrets, case .object(let members) = try JSONValue(parsing: row.text(0) ?? "") else { return }
      hasSecrets = members.contains { member in
        guard member.key == "url" else { return RequestFields.secret.contains(member.key) }
        guard case .array(let mirrors) = member.value else { return true }
        return mirrors.contains { $0.string.map(Self.holdsSecret) ?? true }
      }
    }
    return hasSecrets
  }

  /// Whether a URL has a user name or a password. What is no URL and has an `@` may be meant to.
  private static func holdsSecret(_ url: String) -> Bool {
    guard url.utf8.contains(UInt8(ascii: "@")) else { return false }
    do throws(TransferError) {
      return try SourceLocation(parsing: url).redacted != url
    } catch {
      return true
    }
  }
}

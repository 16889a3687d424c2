import Foundation
import Model
import System
import Transfer

/// Reads the files of rules for hosts: header fields, and `.netrc`. No message contains a value of theirs.
struct HostSecrets {
  let file: String

  /// The values of `${NAME}` in header fields.
  let environment: [String: String]

  /// The longest file, in bytes.
  private static let maxBytes = 64 << 10

  /// The rules with the contents of their files.
  /// - Throws: `UsageError` that names the file.
  func read(for rules: HostRules) throws -> HostRules {
    var openFiles: Set<String> = []
    var uselessFiles: Set<String> = []
    var files: [String: MemoryFile] = [:]
    var read = try rules.mapped { rule in
      var rule = rule
      var secrets: [String] = []
      if let path = rule.headersFile {
        let text = try self.text(of: path, key: "headers-file", of: rule, &openFiles)
        rule.settings.headers = try fields(text, of: path, at: location("headers-file", of: rule))
        secrets += rule.settings.headers.map(\.line)
      }
      if let path = rule.netrcFile {
        let text = try self.text(of: path, key: "netrc", of: rule, &openFiles)
        let file = try files[text] ?? memoryFile(text, of: rule)
        files[text] = file
        if !Self.hasEntry(text) { uselessFiles.insert(path) }
        rule.settings.netrc = file
        secrets.append(text)
      }
      if !secrets.isEmpty { rule.secrets = MessageDigest.hexDigest(of: secrets.joined(separator: "\n")) }
      return rule
    }
    read.warnings = openFiles.sorted().map {
      "\($0) holds secrets and is open to others: make it private (chmod 600)"
    }
    read.warnings += uselessFiles.sorted().map {
      "\($0) gives no host a password: it has no \"machine\" or \"default\" with a \"login\" or \"password\""
    }
    return read
  }

  /// Whether a text in the format of `.netrc` gives any machine a user name or a password.
  private static func hasEntry(_ text: String) -> Bool {
    let lines = text.split(whereSeparator: \.isNewline).filter { !$0.drop(while: \.isWhitespace).hasPrefix("#") }
    let words = lines.flatMap { $0.split(whereSeparator: \.isWhitespace) }
    guard let entry = words.firstIndex(where: { $0 == "machine" || $0 == "default" }) else { return false }
    return words[entry...].dropLast().contains { $0 == "login" || $0 == "password" }
  }

  /// A key of a rule in the form of messages.
  private func location(_ key: String, of rule: HostRule) -> String {
    "\(file): \"hosts\": \"\(rule.pattern)\": \"\(key)\""
  }

  private func text(
    of path: String, key: String, of rule: HostRule, _ openFiles: inout Set<String>
  ) throws -> String {
    let what = location(key, of: rule)
    do {
      let file = try OpenFile(reading: path)
      let status = try file.status()
      guard status.kind == .file else { throw UsageError("\(what) must be a regular file; \(path) is not") }
      guard status.size <= Self.maxBytes else {
        throw UsageError("\(what) may have \(Self.maxBytes) bytes; \(path) has \(status.size)")
      }
      if status.isOpenToOthers { openFiles.insert(path) }
      guard let text = String(data: try file.readAll(), encoding: .utf8) else {
        throw UsageError("\(what) must be UTF-8; \(path) is not")
      }
      return text
    } catch let error as SystemError {
      throw UsageError("\(what) cannot be read: \(error)")
    }
  }

  /// A copy of the file for libcurl: the file itself may change or vanish.
  private func memoryFile(_ text: String, of rule: HostRule) throws -> MemoryFile {
    do {
      return try MemoryFile(text)
    } catch let error as SystemError {
      throw UsageError("\(location("netrc", of: rule)) cannot be kept in memory: \(error)")
    }
  }

  /// The header fields of a file: `NAME: VALUE`, one on each line. Blank lines and those that begin with `#` are ignored.
  private func fields(_ text: String, of path: String, at location: String) throws -> [HeaderField] {
    var fields: [HeaderField] = []
    // By bytes: to Swift a carriage return and a line feed are one character.
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let line = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      if line.isEmpty || line.hasPrefix("#") { continue }
      do {
        let field = try HeaderField(parsing: line)
        fields.append(try HeaderField(field.name, try expanded(field.value)))
      } catch let error as SourceRequest.ParseError {
        throw UsageError("\(location): \(path), line \(index + 1): \(error.message)")
      } catch let error as UsageError {
        throw UsageError("\(location): \(path), line \(index + 1): \(error)")
      }
    }
    return fields
  }

  /// A value in which each `${NAME}` is replaced by the environment's variable.
  private func expanded(_ value: String) throws -> String {
    var (expanded, rest) = ("", value[...])
    while let start = rest.firstRange(of: "${") {
      guard let match = rest[start.lowerBound...].prefixMatch(of: /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/) else {
        throw UsageError("${ must be followed by the name of an environment variable and }")
      }
      let name = String(match.1)
      guard let value = environment[name], !value.isEmpty else {
        throw UsageError("the environment variable \(name) is not set, or empty")
      }
      expanded += rest[..<start.lowerBound] + value
      rest = rest[match.range.upperBound...]
    }
    return expanded + rest
  }
}

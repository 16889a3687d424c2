import Darkroom
import Foundation
import System
import Transfer

/// Reads the files of rules for hosts: header fields, and `.netrc`. No message holds a value of theirs.
struct HostSecrets {
  /// What `${NAME}` stands for in the value of a header field.
  let environment: [String: String]

  /// The longest file, in bytes.
  private static let maxBytes = 64 << 10

  /// The rules with what their files say.
  /// - Throws: `UsageError` that names the file.
  func read(for rules: HostRules) throws -> HostRules {
    var openFiles: Set<String> = []
    var files: [String: MemoryFile] = [:]
    var read = try rules.mapped { rule in
      var rule = rule
      var secrets: [String] = []
      if let path = rule.headersFile {
        let text = try self.text(of: path, key: "headers-file", of: rule, &openFiles)
        rule.settings.headers = try fields(text, of: path)
        secrets += rule.settings.headers.map(\.line)
      }
      if let path = rule.netrcFile {
        let text = try self.text(of: path, key: "netrc", of: rule, &openFiles)
        let file = try files[text] ?? memoryFile(text, of: rule)
        files[text] = file
        rule.settings.netrc = file
        secrets.append(text)
      }
      if !secrets.isEmpty { rule.secrets = MessageDigest.hexDigest(of: secrets.joined(separator: "\n")) }
      return rule
    }
    read.warnings = openFiles.sorted().map {
      "\($0) holds secrets and is open to others: make it yours alone (chmod 600)"
    }
    return read
  }

  private func text(
    of path: String, key: String, of rule: HostRule, _ openFiles: inout Set<String>
  ) throws -> String {
    let what = "\"hosts\": \"\(rule.pattern)\": \"\(key)\""
    do {
      let file = try OpenFile(reading: path)
      let status = try file.status()
      guard status.kind == .file else { throw UsageError("\(what) must be a regular file; \(path) is none") }
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

  /// What libcurl reads instead of the file, which may change or vanish.
  private func memoryFile(_ text: String, of rule: HostRule) throws -> MemoryFile {
    do {
      return try MemoryFile(text)
    } catch let error as SystemError {
      throw UsageError("\"hosts\": \"\(rule.pattern)\": \"netrc\" cannot be kept in memory: \(error)")
    }
  }

  /// The header fields of a file: `NAME: VALUE`, one on each line. Blank lines and those that begin with `#` are ignored.
  private func fields(_ text: String, of path: String) throws -> [HeaderField] {
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
        throw UsageError("\(path), line \(index + 1): \(error.message)")
      } catch let error as UsageError {
        throw UsageError("\(path), line \(index + 1): \(error)")
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

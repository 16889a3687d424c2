/// A part of a form that is sent as `multipart/form-data`.
package struct FormPart: Sendable, Hashable {
  package let name: String

  /// Sent in UTF-8. May be a secret.
  package let content: String

  /// Default: `nil`, the part is a field, not a file.
  package let filename: String?

  /// The part's `Content-Type`. Default: `nil`, none for a field, and for a file the type that libcurl derives from its name.
  package let type: String?

  /// - Throws: `SourceRequest.ParseError` for a name or file name that is empty or has control characters, and for a type
  ///   that is not `TYPE/SUBTYPE`, with or without parameters, in ASCII.
  package init(
    name: String, content: String, filename: String? = nil, type: String? = nil
  ) throws(SourceRequest.ParseError) {
    guard !name.isEmpty, !Self.hasControls(name) else {
      throw Self.problem("a field of a form needs a name without control characters")
    }
    guard filename.map({ !$0.isEmpty && !Self.hasControls($0) }) ?? true else {
      throw Self.problem("the filename of \"\(name)\" is empty or has control characters")
    }
    if let type {
      let parts = type.prefix { $0 != ";" }.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 2, !parts.contains(where: \.isEmpty), type.utf8.allSatisfy({ (0x20..<0x7f).contains($0) })
      else { throw Self.problem("the type of \"\(name)\" must be such as image/png") }
    }
    self.name = name
    self.content = content
    self.filename = filename
    self.type = type
  }

  private static func hasControls(_ text: String) -> Bool { text.utf8.contains { $0 < 0x20 || $0 == 0x7f } }

  private static func problem(_ message: String) -> SourceRequest.ParseError {
    SourceRequest.ParseError(field: "form", message: message)
  }
}

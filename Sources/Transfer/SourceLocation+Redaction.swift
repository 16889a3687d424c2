extension SourceLocation {
  /// A URL as it was written, valid or not, without its userinfo: for reports and logs.
  package static func redacted(_ text: String) -> String {
    (try? SourceLocation(parsing: text))?.redacted ?? Transfer.redacted(text, valid: false)
  }
}

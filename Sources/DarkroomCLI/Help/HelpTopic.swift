/// What `darkroom help` is about besides commands.
enum HelpTopic: String, CaseIterable {
  /// The text of `darkroom-manifest(5)`.
  case manifest
  /// The text of `darkroom-report(5)`.
  case report
  /// Pages of the manual, for `man`.
  case man
  /// Scripts that complete command lines.
  case completion

  /// What may follow the topic, for shells that complete it.
  var operands: [String] {
    switch self {
    case .manifest, .report: []
    case .man: Manual.names
    case .completion: Shell.allCases.map(\.rawValue)
    }
  }
}

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
  /// Words for these scripts; nobody is told of it.
  case complete

  /// Those that people are told of.
  static let shown = allCases.filter { $0 != .complete }

  /// What may follow the topic, for shells that complete it.
  var operands: [String] {
    switch self {
    case .manifest, .report, .complete: []
    case .man: Manual.names
    case .completion: Shell.allCases.map(\.rawValue)
    }
  }
}

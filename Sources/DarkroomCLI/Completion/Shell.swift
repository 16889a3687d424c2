/// The shells for which there are completions.
enum Shell: String, CaseIterable {
  case bash, zsh, fish

  /// The script that completes command lines of the program in the shell.
  func script(_ table: CompletionTable) -> String {
    switch self {
    case .bash: BashCompletion(table: table).script
    case .zsh: ZshCompletion(table: table).script
    case .fish: FishCompletion(table: table).script
    }
  }
}

import Darkroom

/// The completion for zsh, 5.1 or later.
struct ZshCompletion {
  let table: CompletionTable

  var script: String {
    """
    #compdef darkroom
    # Completes command lines of darkroom \(Darkroom.version) in zsh; "darkroom help completion zsh" prints this.

    _darkroom_commands() {
      local -a commands=(
    \(table.commands.map { "    " + quoted($0.name + ":" + $0.summary) }.joined(separator: "\n"))
      )
      _describe -t commands command commands "$@"
    }

    # The names of jobs or locks that the command can be about.
    _darkroom_names() {
      local -a names
      local program=${(Q)words[1]}
      program=${program/#\\~\\//$HOME/}
      names=(${(f)"$(_call_program names ${(q)program} help complete $command ${(q)folders} 2>/dev/null)"})
      compadd "$@" -a names
    }

    # Filter functions for the last word of a recipe.
    _darkroom_recipe() {
      local -a filters=(\(table.filters.map { "'\($0)('" }.joined(separator: " ")))
      compset -P '*[[:space:]]'
      compadd "$@" -S '' -a filters
    }

    _darkroom() {
      local word command topic
      local -a folders specs
      integer at=2 ended=0
      # What stands before the current word: the command, and the folders in which names are looked up.
      while ((at < CURRENT)); do
        word=${words[at]}
        if ((ended)); then
          if [[ -z $command ]]; then command=${(Q)word}; elif [[ -z $topic ]]; then topic=${(Q)word}; fi
        else
          case $word in
            (--) ended=1 ;;
            (\(CompletionTable.folderOptions.map { $0 + "=*" }.joined(separator: "|")))
              folders+=(${(Q)word}) ;;
            (\(CompletionTable.folderOptions.joined(separator: "|")))
              ((++at < CURRENT)) && folders+=("$word=${${(Q)words[at]}/#\\~\\//$HOME/}") ;;
            (\(otherValued))
              ((++at)) ;;
            (-?*) ;;
            (*) if [[ -z $command ]]; then command=${(Q)word}; elif [[ -z $topic ]]; then topic=${(Q)word}; fi ;;
          esac
        fi
        ((++at))
      done
      specs=('1: :_darkroom_commands')
      case $command in
    \(table.commands.map(specs).joined(separator: "\n"))
        (*) specs+=(
    \(table.commonOptions.flatMap(specs).joined(separator: "\n"))
        ) ;;
      esac
      _arguments -s -S : $specs
    }

    if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
      _darkroom "$@"
    else
      compdef _darkroom darkroom
    fi
    """
  }

  private var otherValued: String {
    table.valuedOptions.filter { !CompletionTable.folderOptions.contains($0) }.joined(separator: "|")
  }

  private func specs(of command: CompletionTable.Command) -> String {
    let lines = command.options.flatMap(specs) + operands(of: command)
    return "    (\(command.name)) specs+=(\n\(lines.joined(separator: "\n"))\n    ) ;;"
  }

  private func operands(of command: CompletionTable.Command) -> [String] {
    guard let operand = command.operand else { return [] }
    if operand.kind == .topics {
      let names = table.commands.map(\.name) + table.topics.map(\.name)
      return ["      '2:topic:(\(names.joined(separator: " ")))'"]
        + table.topics.filter { !$0.operands.isEmpty }.map { topic, operands in
          "      ${${(M)topic:#\(topic)}:+'3:\(topic):(\(operands.joined(separator: " ")))'}"
        }
    }
    let place = operand.isRepeated ? "*" : "2"
    let title = operand.kind == .files ? "file" : operand.kind == .locks ? "lock" : "job"
    return ["      " + quoted("\(place):\(title):\(action(operand))")]
  }

  /// The specifications of an option, one for each of its words.
  private func specs(of option: CompletionTable.Option) -> [String] {
    option.words.map { word in
      let exclusion =
        option.words.count > 1 ? "(\(option.words.joined(separator: " ")))" : option.isRepeatable ? "*" : ""
      let summary = option.summary.replacing("[", with: "\\[").replacing("]", with: "\\]")
      let value = option.valueName.map { "=[\(summary)]:\($0):" + (option.value.map(action) ?? " ") } ?? "[\(summary)]"
      return "      " + quoted(exclusion + word + value)
    }
  }

  /// What `_arguments` does for a word.
  private func action(_ syntax: WordSyntax) -> String {
    switch syntax.kind {
    case .files: "_files"
    case .folders: "_path_files -/"
    case .jobs, .locks: "_darkroom_names"
    case .recipe: "_darkroom_recipe"
    case .topics, nil: syntax.choices.isEmpty ? " " : "(\(syntax.choices.joined(separator: " ")))"
    }
  }

  private func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}

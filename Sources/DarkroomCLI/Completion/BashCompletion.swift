import Darkroom

/// The completion for bash, 4.4 or later. It needs nothing of the package bash-completion.
struct BashCompletion {
  let table: CompletionTable

  var script: String {
    """
    # Completes command lines of darkroom \(Darkroom.version) in bash; "darkroom help completion bash" prints this.

    \(Self.functions)

    # What follows an option that has a value.
    _darkroom_value() {
      case $1 in
    \(values)
      esac
    }

    # The options of a command.
    _darkroom_options() {
      case $1 in
    \(options)
      esac
    }

    # The operands of a command, of which there are so many already.
    _darkroom_operands() {
      case $1 in
    \(operands)
      esac
    }

    _darkroom() {
      local IFS=$' \\t\\n' program=${COMP_WORDS[0]} line=$COMP_LINE command='' topic='' word='' kept='' plain='' quote=''
      local -i at=1 last=-1 operands=0 ended=0
      local -a words=() folders=() found=()
      COMPREPLY=()
      _darkroom_words
      local current=${words[last]}
      # What stands before the current word: the command, how many operands, and the folders.
      while ((at < last)); do
        word=${words[at]}
        if ((ended)); then
          _darkroom_operand "$word"
        else
          case $word in
            --) ended=1 ;;
            \(CompletionTable.folderOptions.map { $0 + "=*" }.joined(separator: " | ")))
              _darkroom_dequote "${word#*=}" && folders+=("${word%%=*}=$plain") ;;
            \(CompletionTable.folderOptions.joined(separator: " | ")))
              at+=1
              ((at < last)) && _darkroom_dequote "${words[at]}" && folders+=("$word=$plain") ;;
            \(otherValued))
              at+=1 ;;
            -?*) ;;
            *) _darkroom_operand "$word" ;;
          esac
        fi
        at+=1
      done
      if ((at > last)); then
        _darkroom_value "$word" "$current"
      elif ((!ended)) && [[ $current == --*=* ]]; then
        kept=${kept#"${current%%=*}="}
        _darkroom_value "${current%%=*}" "${current#*=}"
      elif ((!ended)) && [[ $current == -* && $current != - ]]; then
        _darkroom_options "$command"
        _darkroom_offer "$current" "${found[@]}"
      elif [[ -z $command ]]; then
        _darkroom_offer "$current" \(words(table.commands.map(\.name)))
      else
        _darkroom_operands "$command" "$operands" "$current"
      fi
    }

    complete -F _darkroom darkroom
    """
  }

  private var otherValued: String {
    table.valuedOptions.filter { !CompletionTable.folderOptions.contains($0) }.joined(separator: " | ")
  }

  private var values: String {
    table.distinctOptions.compactMap { option in
      option.value.flatMap { $0.isEmpty ? nil : "    --\(option.name)) \(offer($0, "$2")) ;;" }
    }.joined(separator: "\n")
  }

  private var options: String {
    let lists = table.commands.map { command in
      "    \(command.name)) found=(\(command.options.map { "--" + $0.name }.joined(separator: " "))) ;;"
    }
    let common = "    *) found=(\(table.commonOptions.map { "--" + $0.name }.joined(separator: " "))) ;;"
    return (lists + [common]).joined(separator: "\n")
  }

  private var operands: String {
    table.commands.map { command in
      guard let operand = command.operand else {
        return "    \(command.name)) _darkroom_options \(command.name); _darkroom_offer \"$3\" \"${found[@]}\" ;;"
      }
      if operand.kind == .topics { return "    \(command.name)) _darkroom_topics \"$2\" \"$3\" ;;" }
      let isOpen = operand.isRepeated ? "" : "(($2 == 0)) && "
      return "    \(command.name)) \(isOpen)\(offer(operand, "$3")) ;;"
    }.joined(separator: "\n") + "\n  esac\n}\n\n" + topics
  }

  /// The function of what `help` is about; the caller closes it.
  private var topics: String {
    let names = table.commands.map(\.name) + table.topics.map(\.name)
    let following = table.topics.filter { !$0.operands.isEmpty }.map { topic, operands in
      "    1:\(topic)) _darkroom_offer \"$2\" \(words(operands)) ;;"
    }
    return """
      # What help is about: the number of operands that there are, and the current word.
      _darkroom_topics() {
        case $1:$topic in
          0:*) _darkroom_offer "$2" \(words(names)) ;;
      \(following.joined(separator: "\n"))
      """
  }

  /// The command that offers the words of a syntax.
  /// - Parameter current: The parameter of the shell that has what was typed.
  private func offer(_ syntax: WordSyntax, _ current: String) -> String {
    let choices = syntax.choices.isEmpty ? [] : ["_darkroom_offer \"\(current)\" \(words(syntax.choices))"]
    let others: [String] =
      switch syntax.kind {
      case .files: ["_darkroom_default default"]
      case .folders: ["_darkroom_default dirnames"]
      case .jobs, .locks: ["_darkroom_names \"$1\" \"\(current)\""]
      case .recipe: ["_darkroom_recipe \"\(current)\" \(words(table.filters))"]
      case .topics, nil: []
      }
    return (choices + others).joined(separator: "; ")
  }

  private func words(_ words: [String]) -> String { words.joined(separator: " ") }
}

import Darkroom

/// The completion for fish, 3.4 or later.
struct FishCompletion {
  let table: CompletionTable

  var script: String {
    """
    # Completes command lines of darkroom \(Darkroom.version) in fish; "darkroom help completion fish" prints this.

    # Prints the command and the operands that stand before the current word, a line each.
    function __darkroom_operands
        set -l tokens (commandline -opc)
        set -e tokens[1]
        set -l ended 0
        while set -q tokens[1]
            set -l token $tokens[1]
            set -e tokens[1]
            if test $ended = 1
                printf '%s\\n' $token
                continue
            end
            switch $token
                case --
                    set ended 1
                case \(table.valuedOptions.joined(separator: " "))
                    set -q tokens[1]; and set -e tokens[1]
                case -
                    printf '%s\\n' $token
                case '-*'
                case '*'
                    printf '%s\\n' $token
            end
        end
    end

    \(Self.functions)

    complete -c darkroom -f
    \((commands + options + operands).joined(separator: "\n"))
    """
  }

  /// What does not depend on the tables.
  private static let functions = #"""
    function __darkroom_has_no_command
        test (count (__darkroom_operands)) -eq 0
    end

    # Whether the command is one of these.
    function __darkroom_command_is
        set -l words (__darkroom_operands)
        set -q words[1]; and contains -- $words[1] $argv
    end

    # Whether the command and its operands are these.
    function __darkroom_line_is
        test "$(__darkroom_operands | string collect)" = "$(printf '%s\n' $argv | string collect)"
    end

    # Prints the options that name the folders in which jobs and locks are looked up.
    function __darkroom_folders
        set -l tokens (commandline -opc)
        while set -q tokens[1]
            switch $tokens[1]
                case '--inbox=*' '--outbox=*' '--state=*' '--config=*'
                    printf '%s\n' $tokens[1]
                case --inbox --outbox --state --config
                    set -q tokens[2]; and printf '%s\n' $tokens[1]=(string replace -r '^~/' "$HOME/" -- $tokens[2])
                case --
                    break
            end
            set -e tokens[1]
        end
    end

    # Prints the names of jobs or locks that a command can be about.
    function __darkroom_names
        set -l program (string replace -r '^~/' "$HOME/" -- (commandline -opc)[1])
        $program help complete $argv (__darkroom_folders) 2>/dev/null
    end

    # Prints the recipe so far, continued by each of the filter functions.
    function __darkroom_recipes
        set -l typed (string replace -r -- '^--[a-z-]+=' '' (commandline -ct))
        if string match -qr '^["\']' -- $typed
            set typed (string sub -s 2 -- $typed)
        else
            set typed (string unescape -- $typed)
        end
        set -l head (string match -r -- '^.* ' $typed)
        set -l last (string replace -- "$head" '' "$typed")
        set -l functions
        for name in $argv
            string match -q -- "$last*" $name; and set -a functions $name'('
        end
        # After a single one fish would close the quote and add a blank.
        test (count $functions) -eq 1; and set -a functions $functions...
        printf '%s\n' "$head"$functions
    end

    function __darkroom_directories
        __fish_complete_directories (string replace -r -- '^--[a-z-]+=' '' (commandline -ct))
    end
    """#

  private var commands: [String] {
    table.commands.map { command in
      "complete -c darkroom -n __darkroom_has_no_command -a \(command.name) -d \(quoted(command.summary))"
    }
  }

  private var options: [String] {
    var lines: [String: [String]] = [:]
    var order: [String] = []
    for command in table.commands {
      for option in command.options {
        let line = words(of: option)
        if lines[line] == nil { order.append(line) }
        lines[line, default: []].append(command.name)
      }
    }
    return order.map { line in
      let takers = lines[line] ?? []
      let condition =
        takers.count == table.commands.count ? "" : " -n '__darkroom_command_is \(takers.joined(separator: " "))'"
      return "complete -c darkroom\(condition) \(line)"
    }
  }

  private func words(of option: CompletionTable.Option) -> String {
    let letter = option.letter.map { "-s \($0) " } ?? ""
    let value = option.valueName == nil ? "" : " " + (option.value.map(arguments) ?? "-x")
    return "\(letter)-l \(option.name)\(value) -d \(quoted(option.summary))"
  }

  private var operands: [String] {
    table.commands.flatMap { command -> [String] in
      guard let operand = command.operand, !operand.isEmpty else { return [] }
      if operand.kind == .topics { return topics(of: command.name) }
      let condition = operand.isRepeated ? "__darkroom_command_is" : "__darkroom_line_is"
      let candidates = operand.kind == .files ? "-F" : "-a '(__darkroom_names \(command.name))'"
      return ["complete -c darkroom -n '\(condition) \(command.name)' \(candidates)"]
    }
  }

  private func topics(of command: String) -> [String] {
    let names = table.commands.map(\.name) + table.topics.map(\.name)
    let first = "complete -c darkroom -n '__darkroom_line_is \(command)' -a '\(names.joined(separator: " "))'"
    return [first]
      + table.topics.filter { !$0.operands.isEmpty }.map { topic, operands in
        "complete -c darkroom -n '__darkroom_line_is \(command) \(topic)' -a '\(operands.joined(separator: " "))'"
      }
  }

  /// The arguments of `complete` for the value of an option.
  private func arguments(_ value: WordSyntax) -> String {
    switch value.kind {
    case .files: "-r -F"
    case .folders: "-x -a '(__darkroom_directories)'"
    case .recipe: "-x -a '(__darkroom_recipes \(table.filters.joined(separator: " ")))'"
    default: value.choices.isEmpty ? "-x" : "-x -a '\(value.choices.joined(separator: " "))'"
    }
  }

  private func quoted(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
  }
}

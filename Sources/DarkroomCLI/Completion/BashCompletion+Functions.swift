extension BashCompletion {
  /// What does not depend on the tables. The variables are those of `_darkroom`.
  static let functions = #"""
    # Sets words to those of the line up to the cursor, last to the place of the last, and kept to the part of that which
    # readline does not replace: it divides words at = and :, which is undone here.
    _darkroom_words() {
      local -i i
      local piece
      for ((i = 0; i <= COMP_CWORD; i++)); do
        piece=${COMP_WORDS[i]}
        if ((i == 0)) || [[ $line == [[:space:]]* ]]; then
          last+=1
          words[last]=''
        fi
        line=${line#"${line%%[![:space:]]*}"}
        line=${line#"$piece"}
        kept=${words[last]}
        words[last]+=$piece
      done
      [[ $piece != [=:] ]] || kept=${words[last]}
    }

    # Takes note of a word that is the command or an operand.
    _darkroom_operand() {
      if [[ -z $command ]]; then
        command=$1
      else
        ((operands)) || topic=$1
        operands+=1
      fi
    }

    # Sets plain to what a word means that was typed, and quote to the quote in which it ends.
    _darkroom_dequote() {
      quote=''
      plain=$1
      case $1 in
        \'*)
          quote=\'
          plain=${1:1}
          plain=${plain%\'} ;;
        \"*)
          quote=\"
          plain=${1:1}
          plain=${plain%\"}
          plain=${plain//\\/} ;;
        '~/'*) plain=$HOME/${1:2} ;&
        *) plain=${plain//\\/} ;;
      esac
    }

    # Offers those of the words that begin with what was typed, quoted as it is.
    _darkroom_offer() {
      local candidate character closing="'\\''"
      _darkroom_dequote "$1"
      shift
      for candidate; do
        [[ $candidate == "$plain"* ]] || continue
        case $quote in
          \') candidate=${candidate//\'/"$closing"} ;;
          \") for character in \\ \" '$' '`'; do candidate=${candidate//"$character"/"\\$character"}; done ;;
          *)
            printf -v candidate %q "$candidate"
            candidate=${candidate#"$kept"} ;;
        esac
        COMPREPLY+=("$candidate")
      done
    }

    # Offers the names of jobs or locks that a command can be about.
    _darkroom_names() {
      [[ $program != '~/'* ]] || program=$HOME/${program:2}
      mapfile -t found < <("$program" help complete "$1" "${folders[@]}" 2>/dev/null)
      _darkroom_offer "$2" "${found[@]}"
    }

    # Offers filter functions for the last word of a recipe.
    _darkroom_recipe() {
      local typed=$1 head name
      shift
      _darkroom_dequote "$typed"
      head=
      [[ $plain != *' '* ]] || head=${plain% *}' '
      # A parenthesis needs quotes: they are opened with the first function.
      if [[ -z $quote && -z $head && $typed != *\\* && -z $kept ]]; then
        for name; do [[ $name != "$typed"* ]] || COMPREPLY+=("'$name("); done
      else
        local -a recipes=()
        for name; do recipes+=("$head$name("); done
        _darkroom_offer "$typed" "${recipes[@]}"
        # After a single one readline would close the quote.
        [[ -z $quote ]] || ((${#COMPREPLY[@]} != 1)) || COMPREPLY+=("${COMPREPLY[0]}...")
      fi
      compopt -o nospace 2>/dev/null
    }

    # Has readline complete names of files (default) or folders (dirnames).
    _darkroom_default() { compopt -o "$1" 2>/dev/null; }
    """#
}

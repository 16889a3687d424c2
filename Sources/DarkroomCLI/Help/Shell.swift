/// The shells that have completions.
enum Shell: String, CaseIterable {
  case bash, zsh, fish

  /// The script by which the shell asks the program, see `Completion.lines`.
  var script: String {
    switch self {
    case .bash: Self.bashScript
    case .zsh: Self.zshScript
    case .fish: Self.fishScript
    }
  }

  /// For bash, 4.4 or later. It does not need the package bash-completion.
  private static let bashScript = #"""
    # Completes command lines of darkroom in bash; "darkroom help completion bash" prints this.
    _darkroom() {
      local kind='' line=${COMP_LINE:0:COMP_POINT} program=${COMP_WORDS[0]/#\~\//"$HOME"/}
      { read -r kind; mapfile -t COMPREPLY; } < <("$program" __complete bash "$line" "$COMP_WORDBREAKS" 2>/dev/null)
      case $kind in
        files) compopt -o default ;;
        folders) compopt -o dirnames ;;
      esac 2>/dev/null
    }
    complete -F _darkroom darkroom
    """#

  /// For zsh, 5.1 or later.
  private static let zshScript = #"""
    #compdef darkroom
    # Completes command lines of darkroom in zsh; "darkroom help completion zsh" prints this.
    _darkroom() {
      local program=${${(Q)words[1]}/#\~\//$HOME/} line="${words[1,CURRENT-1]} $QIPREFIX$PREFIX"
      local -a found=("${(@f)$($program __complete zsh $line 2>/dev/null)}")
      local kind=$found[1]
      shift found
      compset -P 1 '--*='
      case $kind in
        (files) _files ;;
        (folders) _path_files -/ ;;
        (words) _describe candidate found ;;
      esac
    }
    if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _darkroom "$@"; else compdef _darkroom darkroom; fi
    """#

  /// For fish, 3.4 or later.
  private static let fishScript = #"""
    # Completes command lines of darkroom in fish; "darkroom help completion fish" prints this.
    function __darkroom_complete
        set -l program (string replace -r '^~/' "$HOME/" -- (commandline -opc)[1])
        set -l found ($program __complete fish "$(commandline -cp)" 2>/dev/null)
        set -l option (string match -r -- '^--[a-z-]+=' (commandline -ct))
        set -l path (string replace -- "$option" '' (commandline -ct))
        switch "$found[1]"
            case files
                set found "$option"(complete -C "'' $path")
            case folders
                set found "$option"(__fish_complete_directories "$path")
            case words
                set -e found[1]
        end
        string join \n -- $found
    end
    complete -c darkroom -f -a '(__darkroom_complete)'
    """#
}

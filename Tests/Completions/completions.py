"""Completes command lines of darkroom in bash, zsh and fish, as a person would who presses the Tab key.

usage: completions.py --program DARKROOM [SHELL…]

Each shell is started with the script that "darkroom help completion" prints. Lists of candidates are compared with what the
help of each command says; and command lines are typed with Tab, and executed: what the program would have been called with
is what must come out, whatever blanks and quotes a name has. Exits with 0, or with 1 and a line for each difference.
"""

import argparse
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

# Shells that do not answer within this time hang; in seconds.
PATIENCE = 60


def make_folders(root):
    """What is there to be completed. The names are those that need quotes."""
    for job in ["my cats", "it's $5 & co", "plain", "a=b c"]:
        (root / "inbox" / f"{job}.json").parent.mkdir(exist_ok=True)
        (root / "inbox" / f"{job}.json").write_text("{}")
    for job in ["old cats", "ünï (1)"]:
        (root / "outbox" / job).mkdir(parents=True)
        (root / "outbox" / job / "report.json").write_text("{}")
    for lock in ['back"up.lock', "pause.lock"]:
        (root / "inbox" / lock).write_text("")
    (root / "other inbox").mkdir()
    (root / "other inbox" / "else where.json").write_text("{}")
    (root / "main list.json").write_text("{}")
    # A folder of the name of a job is no reason to complete it as a folder.
    (root / "plain").mkdir()


def lists(program):
    """Command lines whose last word is to be completed, with all candidates, from what the help says."""
    def said(*words):
        return subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout

    general = said("help").split("\nThe commands")[1].split("\noptions of all")[0]
    commands = re.findall(r"\n  ([a-z]+)", general)
    assert len(commands) > 10, commands
    topics = ["manifest", "report", "events", "man", "completion"]
    yield "darkroom ", commands
    yield "darkroom ca", ["cancel"]
    yield "darkroom help ", commands + topics
    yield "darkroom help man ", ["darkroom", "darkroom-events", "darkroom-manifest", "darkroom-report"]
    yield "darkroom help completion ", ["bash", "zsh", "fish"]
    for command in commands:
        options = re.findall(r"\n  (?:-[a-z], )?(--[a-z-]+)(?: (\S+))?", said("help", command))
        assert len(options) > 6, (command, options)
        yield f"darkroom {command} --", [name for name, _ in options] + ["--help", "--version"]
        for name, value in options:
            words = [word for word in value.split("|") if re.fullmatch("[a-z]+", word)]
            if words:
                yield f"darkroom {command} {name} ", words
                yield f"darkroom --quiet --inbox inbox {command} {name}=", words
    open_jobs = ["my cats", "it's $5 & co", "plain", "a=b c"]
    yield "darkroom cancel ", open_jobs
    yield "darkroom wait --timeout 5 plain ", open_jobs
    yield "darkroom wait -- ", open_jobs
    yield "darkroom retry ", ["old cats", "ünï (1)"]
    yield "darkroom resume ", ['back"up', "pause"]
    yield "darkroom --inbox 'other inbox' cancel ", ["else where"]
    yield "darkroom --inbox='other inbox' cancel ", ["else where"]
    yield "darkroom cancel --inbox other\\ inbox ", ["else where"]
    yield "darkroom cancel --inbox nowhere ", []
    yield "darkroom run --quality ", []


# What is typed; what the program is called with.
TYPED = [
    ("darkroom ca\tpl\t", ["cancel", "plain"]),
    ("darkroom run --isolation pr\t", ["run", "--isolation", "process"]),
    ("darkroom run --format=jp\t", ["run", "--format=jpeg"]),
    ("darkroom cancel my\t", ["cancel", "my cats"]),
    ("darkroom cancel my\\ c\t", ["cancel", "my cats"]),
    ("darkroom cancel 'my\t", ["cancel", "my cats"]),
    ('darkroom cancel "my c\t', ["cancel", "my cats"]),
    ("darkroom cancel it\tpl\t", ["cancel", "it's $5 & co", "plain"]),
    ('darkroom cancel "it\t', ["cancel", "it's $5 & co"]),
    ("darkroom cancel 'it\t", ["cancel", "it's $5 & co"]),
    ("darkroom wait a\t", ["wait", "a=b c"]),
    ("darkroom wait a=\t", ["wait", "a=b c"]),
    ("darkroom retry ol\t", ["retry", "old cats"]),
    ("darkroom retry ü\t", ["retry", "ünï (1)"]),
    ("darkroom resume back\t", ["resume", 'back"up']),
    ("darkroom resume 'back\t", ["resume", 'back"up']),
    ("darkroom add ma\t", ["add", "main list.json"]),
    ("darkroom --config ma\t", ["--config", "main list.json"]),
    ("darkroom --inbox oth\t", ["--inbox", "other inbox"]),
    ("darkroom --inbox=oth\t", ["--inbox=other inbox"]),
    ("darkroom --inbox ma\t", ["--inbox", "ma"]),
    ("darkroom --config=ma\t", ["--config=main list.json"]),
    ("darkroom --config 'ma\t", ["--config", "main list.json"]),
    ("darkroom cancel --inbox 'other inbox' el\t", ["cancel", "--inbox", "other inbox", "else where"]),
]

# The end of what is typed depends on how the shell writes a parenthesis.
RECIPES = {
    "bash": [
        ("darkroom run --filters gra\t)'", ["run", "--filters", "grayscale()"]),
        ("darkroom run --filters 'sepia(0.8) cont\t1.2)'", ["run", "--filters", "sepia(0.8) contrast(1.2)"]),
        ("darkroom run --filters='sepia(0.8) cont\t1.2)'", ["run", "--filters=sepia(0.8) contrast(1.2)"]),
        ("darkroom run --filters=gra\t)'", ["run", "--filters=grayscale()"]),
    ],
    "zsh": [
        ("darkroom run --filters gra\t\\)", ["run", "--filters", "grayscale()"]),
        ("darkroom run --filters 'sepia(0.8) cont\t1.2)'", ["run", "--filters", "sepia(0.8) contrast(1.2)"]),
        ("darkroom run --filters='sepia(0.8) cont\t1.2\\)", ["run", "--filters=sepia(0.8) contrast(1.2)"]),
    ],
    "fish": [
        ("darkroom run --filters gra\t\\)", ["run", "--filters", "grayscale()"]),
        ("darkroom run --filters 'sepia(0.8) cont\t1.2)'", ["run", "--filters", "sepia(0.8) contrast(1.2)"]),
    ],
}


class Terminal:
    """A shell on a pseudo-terminal."""

    def __init__(self, arguments, root, environment):
        self.process, self.descriptor = pty.fork()
        if self.process == 0:
            # Wide and high enough that no shell asks whether it may show a list.
            termios.tcsetwinsize(0, (200, 500))
            os.chdir(root)
            os.execvpe(arguments[0], arguments, environment)
        self.said = b""

    def type(self, text):
        os.write(self.descriptor, text.encode())

    def wait_for(self, path):
        """Waits until a file is there, and reads meanwhile what the shell prints, so that it goes on."""
        end = time.monotonic() + PATIENCE
        while not path.exists():
            if time.monotonic() > end:
                raise TimeoutError(f"the shell hangs; it has printed:\n{self.said[-2000:].decode(errors='replace')}")
            self.read(0.02)

    def read(self, seconds):
        if select.select([self.descriptor], [], [], seconds)[0]:
            try:
                self.said += os.read(self.descriptor, 65536)
            except OSError as error:
                raise TimeoutError(f"the shell has ended:\n{self.said.decode(errors='replace')}") from error

    def close(self):
        os.kill(self.process, signal.SIGKILL)
        os.close(self.descriptor)
        os.waitpid(self.process, 0)


class Shell:
    """A shell with the completion, in a folder of its own."""

    def __init__(self, program, root):
        self.program, self.root = program, root
        self.folder = root.parent / f"{root.name}-{self.name}"
        (self.folder / "bin").mkdir(parents=True)
        self.script = self.folder / self.script_name
        self.script.write_bytes(subprocess.run(
            [program, "help", "completion", self.name], check=True, capture_output=True).stdout)
        # Completes, as the program does, and for the rest tells what it was called with.
        wrapper = self.folder / "bin" / "darkroom"
        wrapper.write_text(f"""#!/bin/sh
[ "$1" != __complete ] || exec '{program}' "$@"
printf '%s\\0' "$@" > "$CALLED.new"
mv "$CALLED.new" "$CALLED"
""")
        wrapper.chmod(0o755)
        self.called = self.folder / "called"
        self.listed = self.folder / "listed"
        self.environment = {
            "PATH": f"{self.folder}/bin:/usr/local/bin:/usr/bin:/bin", "HOME": str(self.folder),
            "LC_ALL": "C.UTF-8", "TERM": "xterm", "CALLED": str(self.called), "LISTED": str(self.listed),
            "ZDOTDIR": str(self.folder), "XDG_CONFIG_HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder),
            "INPUTRC": "/dev/null", "HISTFILE": str(self.folder / "history"),
        }

    def calls(self, cases):
        """What the program is called with when the lines are typed."""
        terminal = self.terminal()
        try:
            for typed in cases:
                self.called.unlink(missing_ok=True)
                terminal.type(typed + "\n")
                terminal.wait_for(self.called)
                yield self.called.read_bytes().decode().split("\0")[:-1]
        finally:
            terminal.close()

    def terminal(self):
        ready = self.folder / "ready"
        ready.unlink(missing_ok=True)
        terminal = Terminal(self.interactive, self.root, self.environment)
        terminal.type(self.beginning + f"printf . > '{ready}'\n")
        terminal.wait_for(ready)
        return terminal


class Bash(Shell):
    name, script_name = "bash", "darkroom"
    interactive = ["bash", "--norc", "--noprofile", "-i"]

    @property
    def beginning(self):
        return f"bind 'set enable-bracketed-paste off'; bind 'set bell-style none'; source '{self.script}'\n"

    # What readline takes for words.
    divided = re.compile(r"""(?:"[^"]*"?|'[^']*'?|\\.|[^\s=:"'\\])+|[=:]+""")

    # Completes the line that is the second argument, and that the others are the words of.
    call = """
        source "$1"
        COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDS=("${@:3}")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _darkroom
        ((${#COMPREPLY[@]} == 0)) || printf '%s\\n' "${COMPREPLY[@]}"
        """

    def candidates(self, lines):
        """Calls the function as readline does."""
        for line in lines:
            words = self.divided.findall(line) + ([""] if line.endswith(" ") else [])
            run = subprocess.run(
                ["bash", "-c", self.call, "bash", self.script, line, *words], cwd=self.root, text=True,
                env=self.environment, capture_output=True)
            if run.stderr:
                raise AssertionError(run.stderr)
            yield [self.meaning(word) for word in run.stdout.split("\n")[:-1]]

    def meaning(self, word):
        """What the shell makes of a word."""
        if not set(word) & set(" \\'$&"):
            return word
        return subprocess.run(["bash", "-c", f"printf %s {word}"], text=True, capture_output=True).stdout


class Zsh(Shell):
    name, script_name = "zsh", "_darkroom"
    interactive = ["zsh", "-f", "-i"]

    # compadd is watched: what it would add goes to a file, except where functions only ask it which words match.
    @property
    def beginning(self):
        return (
            f"PS1='> '; unsetopt zle_bracketed_paste 2>/dev/null; unset zle_bracketed_paste; fpath=('{self.folder}' $fpath); "
            f"autoload -Uz compinit; compinit -u -d '{self.folder}/dump'; LISTMAX=10000; bindkey '^G' kill-whole-line\n"
            "compadd() { if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd \"$@\"; return; fi; "
            "local -a hits; builtin compadd -A hits \"$@\"; (( ! $#hits )) || print -rl -- ${(Q)hits} >> $LISTED; "
            "builtin compadd \"$@\" }\n")

    def candidates(self, lines):
        terminal = self.terminal()
        done = self.folder / "done"
        try:
            for line in lines:
                self.listed.write_text("")
                done.unlink(missing_ok=True)
                # Control-G takes the line away again. Control-U would take away what waits to be read.
                terminal.type(line + "\t" + "\x07" + f"printf . > '{done}'\n")
                terminal.wait_for(done)
                yield self.listed.read_text().split("\n")[:-1]
        finally:
            terminal.close()


class Fish(Shell):
    name, script_name = "fish", "darkroom.fish"
    interactive = ["fish", "-i"]

    @property
    def beginning(self):
        return f"set -g fish_greeting; source '{self.script}'\n"

    def candidates(self, lines):
        for line in lines:
            run = subprocess.run(
                ["fish", "-c", "source $argv[1]; complete -C $argv[2]", self.script, line], cwd=self.root, text=True,
                env=self.environment, capture_output=True, check=True)
            # "--format=keep" is a candidate for "--format=".
            attached = re.search(r"(--[a-z-]+=)$", line)
            yield [
                candidate.split("\t")[0].removeprefix(attached.group() if attached else "")
                for candidate in run.stdout.split("\n")[:-1]]


def check(shell):
    """Yields a line for each difference."""
    cases = list(lists(shell.program))
    for (line, expected), found in zip(cases, shell.candidates([line for line, _ in cases]), strict=True):
        found = [word for word in found if word not in ("-h", "-q", "-v")]
        if sorted(set(found)) != sorted(set(expected)):
            missing, others = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
            yield f"{line!r}: missing {missing}, unexpected {others}"
    typed = TYPED + RECIPES[shell.name]
    for (line, expected), found in zip(typed, shell.calls([line for line, _ in typed]), strict=True):
        if [word.rstrip("/") for word in found] != expected:
            yield f"{line!r} calls {found}, not {expected}"


def main():
    shells = {shell.name: shell for shell in (Bash, Zsh, Fish)}
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True, type=lambda path: str(Path(path).resolve()))
    parser.add_argument("shells", nargs="*", metavar="SHELL", help=", ".join(shells))
    arguments = parser.parse_args()
    failures = 0
    root = Path(tempfile.mkdtemp(prefix="completions-"))
    try:
        (root / "work").mkdir()
        make_folders(root / "work")
        for name in arguments.shells or shells:
            count = 0
            try:
                for difference in check(shells[name](arguments.program, root / "work")):
                    count += 1
                    print(f"completions: {name}: {difference}")
            except (TimeoutError, AssertionError) as error:
                count += 1
                print(f"completions: {name}: {error}")
            print(f"completions: {name}: {'all is well' if count == 0 else f'{count} differences'}")
            failures += count
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

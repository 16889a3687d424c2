import Foundation
import TestSupport

/// The program on a terminal (a pseudo-terminal that Python reads), and what a person sees there.
struct PseudoTerminal {
  /// What is done one after the other while the program runs. After each the script says `step N` on standard error.
  enum Step {
    /// Waits until a text is on the screen.
    case until(String)
    /// Sends the program a signal.
    case signal(Int32)

    fileprivate var json: [String] {
      switch self {
      case .until(let text): ["until", text]
      case .signal(let number): ["signal", String(number)]
      }
    }
  }

  /// What is there when the program has ended.
  struct Screen: Decodable {
    /// The exit code; negative for a signal.
    let code: Int32
    /// The lines, what has scrolled away included, without empty ones at the end.
    let lines: [String]
    /// The column of the cursor.
    let column: Int
    /// What the program wrote.
    let raw: String
  }

  private let process: DarkroomProcess

  /// Starts the program; standard output and standard error are the terminal.
  init(
    _ arguments: [String], in folder: TemporaryFolder, columns: Int = 80, rows: Int = 24, term: String = "xterm",
    environment: [String: String] = [:], steps: [Step]
  ) throws {
    try Self.script.write(toFile: folder.file("terminal.py"), atomically: true, encoding: .utf8)
    let plan = try JSONEncoder().encode(steps.map(\.json))
    try plan.write(to: URL(fileURLWithPath: folder.file("steps.json")))
    let words = ["/usr/bin/python3", folder.file("terminal.py"), folder.file("steps.json"), "\(columns)", "\(rows)"]
    process = try DarkroomProcess(
      script: "exec " + (words + arguments).map(\.shellWord).joined(separator: " "), in: folder,
      environment: ["TERM": term, "NO_COLOR": ""].merging(environment) { _, given in given })
  }

  /// Waits until the script has done a number of steps.
  func waitForStep(_ number: Int) throws -> Bool { try process.waitForLine(containing: "step \(number)") != nil }

  /// Waits for the end.
  func finish() throws -> Screen {
    let run = try process.finish()
    do {
      return try JSONDecoder().decode(Screen.self, from: Data(run.output.utf8))
    } catch {
      throw Broken(description: run.error + run.output)
    }
  }

  /// The script failed.
  struct Broken: Error, CustomStringConvertible { let description: String }

  private static let script = #"""
    import fcntl, json, os, re, select, struct, subprocess, sys, termios, time, unicodedata

    steps = json.load(open(sys.argv[1]))
    columns, height = int(sys.argv[2]), int(sys.argv[3])
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, columns, 0, 0))
    process = subprocess.Popen(["darkroom"] + sys.argv[4:], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave)
    seen, rows, row, column = b"", [[]], 0, 0
    end = time.monotonic() + 120

    def down():
        global row
        row += 1
        if row == len(rows):
            rows.append([])

    def put(text):
        # A sequence, or one character of text.
        global row, column
        if text == "\r":
            column = 0
        elif text == "\n":
            down()
        elif text[0] == "\x1b" and text[-1] in "mlh":
            pass
        elif text[0] == "\x1b":
            count = int(text[2:-1] or 1)
            if text[-1] == "A":
                row = max(row - count, 0)
            elif text[-1] == "B":
                row = min(row + count, len(rows) - 1)
            elif text[-1] == "K":
                del rows[row][column:]
            elif text[-1] == "J":
                del rows[row][column:]
                for below in rows[row + 1:]:
                    below.clear()
            else:
                raise ValueError(repr(text))
        else:
            width = 0 if unicodedata.combining(text) else 2 if unicodedata.east_asian_width(text) in "WF" else 1
            if column + width > columns:
                column = 0
                down()
            line = rows[row]
            line.extend([" "] * (column + width - len(line)))
            line[column:column + width] = [text] + [""] * (width - 1)
            column += width

    rest = ""

    def read():
        """Reads what there is; whether there may be more."""
        global seen, rest
        if not select.select([master], [], [], max(0, end - time.monotonic()))[0]:
            raise TimeoutError(lines())
        try:
            piece = os.read(master, 4096)
        except OSError:
            return False
        seen += piece
        rest += piece.decode()
        while found := re.match(r"\x1b\[[?0-9]*[A-Za-z]|[^\x1b]", rest, re.S):
            put(found.group())
            rest = rest[found.end():]
        return bool(piece)

    def lines():
        text = ["".join(row).rstrip() for row in rows]
        while text and not text[-1]:
            text.pop()
        return text

    for number, (what, value) in enumerate(steps, 1):
        if what == "until":
            while value not in "\n".join(lines()):
                if process.poll() is not None:
                    raise EOFError((value, lines()))
                read()
        else:
            process.send_signal(int(value))
        print("step", number, file=sys.stderr, flush=True)
    os.close(slave)
    while read():
        pass
    print(json.dumps({"code": process.wait(), "lines": lines(), "column": column, "raw": seen.decode()}))
    """#
}

extension String {
  /// The word in single quotes, for a shell.
  fileprivate var shellWord: String { "'" + replacing("'", with: "'\\''") + "'" }
}

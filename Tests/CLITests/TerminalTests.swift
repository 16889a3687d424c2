import Foundation
import TestSupport
import Testing

/// What a person sees on a terminal.
@Suite(.blocking) struct TerminalTests {
  /// Runs the program on a terminal of 40 columns, and sends it SIGINT when its progress is shown, and again when it is
  /// shown after it said that it stops. Prints how it ended, and the last line of what it wrote.
  private static let interruptedTwice = """
    import fcntl, os, signal, struct, subprocess, sys, termios
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    process = subprocess.Popen(["darkroom"] + sys.argv[1:], stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    seen = b""
    def read_until(text):
        global seen
        while text not in seen:
            seen += os.read(master, 1024)
    read_until(b"0/2")
    process.send_signal(signal.SIGINT)
    read_until(b"stopping")
    while seen.rfind(b"0/2") < seen.rfind(b"stopping"):
        seen += os.read(master, 1024)
    process.send_signal(signal.SIGINT)
    code = process.wait()
    try:
        while piece := os.read(master, 1024):
            seen += piece
    except OSError:
        pass
    print(code)
    print(repr(seen.split(b"\\n")[-1]))
    """

  @Test func `a second Ctrl-C leaves no progress line behind`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("a-job-with-a-rather-long-name.txt", server.url("a") + "\n" + server.url("b") + "\n")
    let script = folders.folder.file("interrupted.py")
    try Self.interruptedTwice.write(toFile: script, atomically: true, encoding: .utf8)
    let words = (["run", "--filters", "none"] + folders.options).map { "'\($0)'" }.joined(separator: " ")
    let run = try DarkroomProcess.run(script: "/usr/bin/python3 \(script) \(words)", in: folders.folder)
    let lines = run.output.split(separator: "\n").map(String.init)
    #expect(lines.first == "130", "\(run.error)")
    // The line as it was, then as many spaces, each time from the first column; never more than the terminal has.
    let pieces = try #require(lines.last).dropFirst(2).dropLast().split(
      separator: "\\r", omittingEmptySubsequences: false)
    #expect(pieces.last == "", "the cursor is in the first column: \(lines)")
    #expect(pieces.dropLast().last?.allSatisfy { $0 == " " } == true, "\(lines)")
    #expect(pieces.allSatisfy { $0.count < 40 }, "\(lines)")
  }
}

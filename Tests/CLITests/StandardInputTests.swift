import Foundation
import TestSupport
import Testing

/// The manifest `-`: standard input, whatever that is.
@Suite(.blocking) struct StandardInputTests {
  private static let samples = "--filters none --file-root '\(packageRoot)/Samples'"

  private func run(_ script: String, in folder: TemporaryFolder? = nil) throws -> DarkroomProcess.Finished {
    try DarkroomProcess.run(script: script, in: folder ?? TemporaryFolder())
  }

  @Test(arguments: [
    ("jsonl", #""coffee.jpg"\n"chelsea.jpg"\n"#, 2), ("csv", #"url\ncoffee.jpg\n"#, 1), ("jsonl", "", 0),
  ])
  func `its format is recognised, packed or not`(format: String, text: String, total: Int) throws {
    for packing in ["cat", "gzip"] {
      let folder = try TemporaryFolder()
      let run = try run(
        """
        printf '%b' '\(text)' | \(packing) >input
        darkroom check - --json --file-root '\(packageRoot)/Samples' <input | head -n 1
        darkroom run - \(Self.samples) <input
        """, in: folder)
      #expect(run.status == 0, "\(run.error)")
      #expect(
        run.output.contains("\"format\":\"\(format)\"") && run.output.contains("\"total\":\(total)"), "\(run.output)")
      let report = folder.file("outbox/stdin/report.json")
      #expect(run.output.hasSuffix(report + "\n"))
      let head = try String(contentsOfFile: report, encoding: .utf8)
      #expect(head.contains("\"format\":\"\(format)\"") && head.contains("\"state\":\"succeeded\""), "\(head)")
    }
  }

  @Test func `it may have another format each time`() throws {
    let folder = try TemporaryFolder()
    for text in [#"["coffee.jpg"]"#, #"url\nchelsea.jpg\n"#, "coffee.jpg"] {
      let run = try run("printf '%b' '\(text)' | darkroom run --quiet - \(Self.samples)", in: folder)
      #expect(run.status == 0 && run.error == "", "\(run.error)")
    }
  }

  @Test func `what cannot be one is rejected, and the report says what it was taken for`() throws {
    let folder = try TemporaryFolder()
    let run = try run(#"printf '{"url": "a.jpg"\n{"url": "b.jpg"}\n' | darkroom check -"#, in: folder)
    #expect(run.status == 65 && run.output.hasPrefix("stdin.json: rejected"), "\(run.output)\(run.error)")
  }

  @Test func `a socket that is slow and does not block is read to its end`() throws {
    let folder = try TemporaryFolder()
    let script = """
      import fcntl, os, socket, subprocess, sys, time
      ours, theirs = socket.socketpair()
      fcntl.fcntl(theirs, fcntl.F_SETFL, os.O_NONBLOCK)
      child = subprocess.Popen(sys.argv[1:], stdin=theirs)
      theirs.close()
      for line in (b'"coffee.jpg"\\n', b'"chelsea.jpg"\\n'):
          time.sleep(0.3)
          ours.sendall(line)
      ours.close()
      sys.exit(child.wait())
      """
    try script.write(toFile: folder.file("feed.py"), atomically: false, encoding: .utf8)
    try run("/usr/bin/python3 feed.py darkroom run - \(Self.samples)", in: folder).expect(status: 0)
    #expect(
      try String(contentsOfFile: folder.file("outbox/stdin/report.json"), encoding: .utf8).contains("\"total\":2"))
  }

  @Test(arguments: ["SIGTERM", "SIGINT"])
  func `a signal ends run while it reads, and nothing is left behind`(signal: String) throws {
    let folder = try TemporaryFolder()
    // A line that has gone from the pipe was read.
    let script = """
      import fcntl, os, signal, struct, subprocess, sys, termios, time
      os.mkdir('temporary')
      reading, writing = os.pipe()
      child = subprocess.Popen(['darkroom', 'run', '-'], stdin=reading, env=dict(os.environ, TMPDIR='temporary'))
      def feed():
          os.write(writing, b'"coffee.jpg"\\n')
          while struct.unpack('i', fcntl.ioctl(reading, termios.FIONREAD, b'\\0' * 4))[0] and child.poll() is None:
              time.sleep(0.01)
      feed()
      child.send_signal(signal.SIGHUP)
      feed()
      child.send_signal(signal.\(signal))
      try:
          print(child.wait(60))
      except subprocess.TimeoutExpired:
          child.kill()
          print('it goes on')
      print(sorted(os.listdir('.')), os.listdir('temporary'))
      """
    try script.write(toFile: folder.file("interrupt.py"), atomically: false, encoding: .utf8)
    let run = try run("/usr/bin/python3 interrupt.py", in: folder)
    #expect(run.output == "\(signal == "SIGINT" ? 130 : 143)\n['interrupt.py', 'temporary'] []\n", "\(run.error)")
  }

  @Test func `a file is read from where it stands`() throws {
    let folder = try TemporaryFolder()
    let run = try run(
      """
      printf '%s\\n' 'no manifest' '"coffee.jpg"' >input
      { read -r first; darkroom run --name rest - \(Self.samples); } <input
      """, in: folder)
    #expect(run.status == 0, "\(run.error)")
    #expect(run.output == folder.file("outbox/rest/report.json") + "\n")
  }

  @Test(.enabled(if: TwoUsers.obstacle == nil, "needs two users: \(TwoUsers.obstacle ?? "")"))
  func `a file that another user has opened is read`() throws {
    let users = try TwoUsers()
    let run = try run(
      """
      echo '"coffee.jpg"' >input; chmod 600 input; chmod 777 .
      exec setpriv --reuid=nobody --regid=nogroup --clear-groups ./darkroom run - \
        --filters none --file-root samples --inbox mine --outbox done --create <input
      """, in: users.folders.folder)
    #expect(run.status == 0, "\(run.error)")
  }

  @Test func `add puts it into the inbox, under a name of its own or a given one`() throws {
    let folders = try DarkroomFolders()
    let add = try run(
      """
      umask 022
      printf 'url,name\\ncoffee.jpg,a\\n' | darkroom add --inbox inbox --name table -
      echo coffee.jpg | gzip | darkroom add --inbox inbox -
      echo '"coffee.jpg"' >input; chmod 600 input; darkroom add --inbox inbox --name own - <input
      """, in: folders.folder)
    #expect(add.status == 0, "\(add.error)")
    let jobs = add.output.split(separator: "\n").map(String.init)
    #expect(jobs.count == 3 && jobs[0] == "table" && jobs[1].hasPrefix("stdin-") && jobs[2] == "own", "\(jobs)")
    #expect(try Set(folders.inboxNames()) == ["table.csv", jobs[1] + ".txt.gz", "own.jsonl"])
    let modes = try ["table.csv", "own.jsonl"].map {
      try FileManager.default.attributesOfItem(atPath: folders.inbox + "/" + $0)[.posixPermissions] as? Int
    }
    #expect(modes == [0o644, 0o600])
    #expect(try folders.run(["--filters", "none"]).status == 0)
  }

  @Test(arguments: [[], ["--name", "night list"]])
  func `beside another instance the list is not accepted, and the command that is printed takes it`(
    more: [String]
  ) throws {
    let folders = try DarkroomFolders()
    let watch = try folders.watch(["--filters", "none"])
    let run = try self.run("echo coffee.jpg | " + folders.line("run", more + ["-", "--quiet"]), in: folders.folder)
    #expect(run.status == 75, "\(run.error)")
    let hint = try #require(run.error.split(separator: "\n").last { $0.hasPrefix("standard input was NOT accepted; ") })
    let command = try #require(hint.firstRange(of: "pipe it again into: ")).upperBound
    let add = try self.run("echo coffee.jpg | " + hint[command...], in: folders.folder).expect(status: 0)
    let job = String(add.output.dropLast())
    #expect(more.isEmpty ? job.hasPrefix("stdin-") : job == "night list")
    #expect(try watch.waitForLine(containing: "\(job): succeeded") != nil)
    try watch.stop()
  }

  @Test func `beside an instance with another inbox it is not accepted, either, and a file is where it was`() throws {
    let (folders, other) = (try DarkroomFolders(), try DarkroomFolders())
    let watch = try folders.watch()
    let line = folders.line("run", ["--inbox", other.inbox, "-", "more.txt"])
    let run = try self.run("echo coffee.jpg >more.txt; echo coffee.jpg | \(line)", in: folders.folder)
    #expect(run.status == 75, "\(run.error)")
    let inbox = "darkroom add --inbox \(other.inbox)"
    #expect(
      run.error.contains("\nstandard input was NOT accepted; for the next start, pipe it again into: \(inbox)"),
      "\(run.error)")
    #expect(!run.error.contains("add --inbox \(other.inbox) more.txt"), "\(run.error)")
    try watch.stop()
  }

  @Test(arguments: ["<&-", "<."])
  func `one that cannot be read ends with 66`(redirection: String) throws {
    let run = try run("darkroom run - \(redirection)")
    #expect(run.status == 66 && run.error.contains("standard input"), "\(run.error)")
  }
}

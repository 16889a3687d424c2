import Foundation
import TestSupport
import Testing

/// Whatever lies in the inbox, the good manifest beside it is processed.
@Suite(.blocking) struct HostileInboxTests {
  private static let good = Data("coffee.jpg\n".utf8)

  static let files = names + kinds + contents

  private static let names: [HostileFile] = [
    HostileFile("a name with a newline", "a\nb.txt", .leftAlone(told: "a\\x0ab.txt")) { try write($0) },
    HostileFile("a name with an escape", "a\u{1b}[31m.txt", .leftAlone(told: "control characters")) { try write($0) },
    HostileFile("a name of 255 bytes", String(repeating: "n", count: 251) + ".txt", .leftAlone(told: "200 bytes")) {
      try write($0)
    },
    HostileFile("a name of 204 bytes", String(repeating: "n", count: 200) + ".txt", .succeeds(job: long)) {
      try write($0)
    },
    HostileFile("a name that is not UTF-8", bytes: [0x61, 0xff, 0xfe] + ".txt".utf8, .leftAlone(told: "not UTF-8")) {
      try write($0)
    },
    HostileFile("an extension of nobody's", "a.docx", .leftAlone(told: ".jsonl")) { try write($0) },
    HostileFile("no extension", "manifest", .leftAlone(told: "extension")) { try write($0) },
    HostileFile("a hidden file", ".a.txt", .passedOver) { try write($0) },
    HostileFile("a file of an editor", "a.txt~", .passedOver) { try write($0) },
    HostileFile("a name like an option", "--help.txt", .succeeds(job: "--help")) { try write($0) },
    HostileFile("a thumbnail cache", "Thumbs.db", .passedOver) { try write($0) },
    HostileFile("a lock of an office program", "~$table.xlsx", .passedOver) { try write($0) },
    HostileFile("settings of a folder", "desktop.ini", .passedOver) { try write($0) },
    HostileFile("a small README", "readme.txt", .passedOver) { try write($0) },
    HostileFile("dots", "...txt.txt", .passedOver) { try write($0) },
  ]

  private static let long = String(repeating: "n", count: 200)

  private static let kinds: [HostileFile] = [
    HostileFile("a link to a file", "a.txt", .leftAlone(told: "symbolic link")) { symlink("good.txt", $0) == 0 },
    HostileFile("a link to a secret", "a.json", .leftAlone(told: "symbolic link")) { symlink("/etc/passwd", $0) == 0 },
    HostileFile("a dangling link", "a.csv", .leftAlone(told: "symbolic link")) { symlink("nowhere", $0) == 0 },
    HostileFile("a link to itself", "loop.txt", .leftAlone(told: "symbolic link")) { symlink("loop.txt", $0) == 0 },
    HostileFile("a pipe", "a.jsonl", .leftAlone(told: "pipe")) { mkfifo($0, 0o644) == 0 },
    HostileFile("a device", "a.txt", .leftAlone(told: "device")) {
      mknod($0, S_IFCHR | 0o666, dev_t(0x105)) == 0  // /dev/zero, where it is permitted
    },
    HostileFile("a link to a folder", "pictures", .leftAlone(told: "symbolic link")) { symlink(".", $0) == 0 },
    HostileFile("a folder", "x.json", .passedOver) { mkdir($0, 0o755) == 0 },
    HostileFile("a folder called like a README", "README.txt", .passedOver) { mkdir($0, 0o755) == 0 },
    HostileFile("an unreadable file", "a.txt", .leftAlone(told: "cannot be read")) {
      // Nothing is unreadable to root.
      try geteuid() != 0 && write($0) && chmod($0, 0) == 0
    },
  ]

  private static let contents: [HostileFile] = [
    HostileFile("an empty list", "a.txt", .succeeds(job: "a")) { Data() },
    HostileFile("empty JSON lines", "a.jsonl", .succeeds(job: "a")) { Data() },
    HostileFile(
      "empty JSON", "a.json", .rejected(job: "a", code: "syntax", place: "line 1, column 1", message: "empty")
    ) { Data() },
    HostileFile("an empty property list", "a.plist", rejected("syntax", "", "empty")) { Data() },
    HostileFile("an empty table", "a.csv", rejected("syntax", "", "no header")) { Data() },
    HostileFile("empty gzip", "a.txt.gz", rejected("syntax", "", "not gzip")) { Data() },
    HostileFile("a property list that holds itself", "a.plist", rejected("syntax", "[0]", "holds itself")) {
      Data("bplist00".utf8) + [0xa1, 0, 8] + Data(count: 6) + [1, 1] + Data(count: 7) + [1] + Data(count: 15) + [10]
    },
    HostileFile("10 000 levels of a property list", "a.plist", rejected("too-deep", "", "32")) {
      Data(("<plist>" + String(repeating: "<array>", count: 10_000)).utf8)
    },
    HostileFile("10 000 brackets", "a.json", .rejected(job: "a", code: "too-deep", place: "line 1", message: "depth")) {
      Data(String(repeating: "[", count: 10_000).utf8)
    },
    HostileFile("10 000 brackets on a line", "a.jsonl", rejected("too-deep", "line 1", "depth")) {
      Data(String(repeating: "[", count: 10_000).utf8)
    },
    HostileFile("a gzip bomb of lines", "a.txt.gz", rejected("too-large", "", "times its size")) {
      try Gzip.packed([Data(repeating: 10, count: 64 << 20)])
    },
    HostileFile("a gzip bomb of JSON", "a.json.gz", rejected("too-large", "", "times its size")) {
      try Gzip.packed([Data(repeating: 32, count: 64 << 20)])
    },
    HostileFile("a picture that calls itself a list", "a.txt", rejected("syntax", "", "a JPEG picture")) {
      try Data(contentsOf: URL(fileURLWithPath: packageRoot + "/Samples/coffee.jpg"))
    },
    HostileFile("a picture that calls itself gzip", "a.json.gz", rejected("syntax", "", "not gzip")) {
      try Data(contentsOf: URL(fileURLWithPath: packageRoot + "/Samples/coffee.jpg"))
    },
  ]

  private static func rejected(_ code: String, _ place: String, _ message: String) -> HostileFile.Fate {
    .rejected(job: "a", code: code, place: place, message: message)
  }

  private static func write(_ path: [CChar]) throws -> Bool { try HostileFile.write(good, to: path) }

  @Test(arguments: files)
  func `is told of, and the good manifest beside it is processed`(_ hostile: HostileFile) throws {
    let folders = try DarkroomFolders()
    let path = (Array((folders.inbox + "/").utf8) + hostile.file + [0]).map { CChar(bitPattern: $0) }
    guard try hostile.make(path) else { return }
    let before = try #require(HostileFile.identity(of: path))
    try folders.drop("good.txt", Self.good)
    for isFirst in [true, false] {
      let run = try folders.run(["--filters", "none"])
      #expect(run.status == (isFirst ? hostile.status : 0), "\(run.error)")
      try check(hostile, in: folders, told: run.error, isFirst: isFirst)
      if case .leftAlone = hostile.fate {
        #expect(HostileFile.identity(of: path) == before)
      } else if case .passedOver = hostile.fate {
        #expect(HostileFile.identity(of: path) == before)
      } else {
        #expect(HostileFile.identity(of: path) == nil)
      }
    }
    #expect(try folders.report("good").state == "succeeded")
    #expect(folders.exists("good/images/coffee.jpg"))
    #expect(folders.exists("good/manifest.txt"))
  }

  private func check(_ hostile: HostileFile, in folders: DarkroomFolders, told: String, isFirst: Bool) throws {
    let left = told.split(separator: "\n").filter { $0.contains(" in the inbox is ignored") }
    #expect(told.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
    switch hostile.fate {
    case .leftAlone(let words):
      #expect(left.count == (isFirst ? 1 : 0) && left.allSatisfy { $0.contains(words) }, "\(told)")
    case .passedOver: #expect(left.isEmpty, "\(told)")
    case .succeeds(let job):
      #expect(left.isEmpty, "\(told)")
      #expect(try folders.report(job).state == "succeeded")
    case .rejected(let job, let code, let place, let message):
      #expect(left.isEmpty, "\(told)")
      #expect(!isFirst || told.contains("\(job): rejected"), "\(told)")
      let report = try folders.report(job)
      #expect(report.state == "rejected")
      #expect(report.entries.isEmpty)
      let problem = try #require(report.errors?.first)
      #expect(problem.code == code)
      #expect((problem.where ?? "").hasPrefix(place) && place.isEmpty == (problem.where ?? "").isEmpty, "\(problem)")
      #expect(problem.message.contains(message), "\(problem)")
    }
  }

  @Test func `what nobody but root may read is ignored, when the program is not root`() throws {
    guard geteuid() == 0, FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv") else { return }
    let folders = try DarkroomFolders()
    try folders.drop("secret.txt", Self.good)
    try folders.drop("good.txt", Self.good)
    let script = """
      cp "$(command -v darkroom)" darkroom; cp -r "\(packageRoot)/Samples" samples
      chown -R nobody . ; chmod 755 . ; chown root inbox/secret.txt; chmod 600 inbox/secret.txt
      setpriv --reuid=nobody --regid=nogroup --clear-groups ./darkroom run --inbox inbox --outbox outbox --settle 0 \
        --file-root samples --filters none
      """
    let run = try DarkroomProcess.run(script: script, in: folders.folder).expect(status: 0)
    #expect(run.error.contains("secret.txt in the inbox is ignored: it cannot be read"), "\(run.error)")
    #expect(try folders.inboxNames() == ["secret.txt"])
    #expect(try folders.report("good").state == "succeeded")
  }

  @Test func `names that are the same to some file systems are jobs of their own, with all their pictures`() throws {
    let folders = try DarkroomFolders()
    let twins = ["caf\u{e9}", "cafe\u{301}", "twin", "Twin", "TWIN"]
    for (number, name) in twins.enumerated() {
      try folders.drop("\(name).txt", "coffee.jpg\n out=\(number)\n")
    }
    #expect(try folders.run(["--filters", "none"]).status == 0)
    #expect(try folders.inboxNames().isEmpty)
    for (number, name) in twins.enumerated() {
      #expect(try folders.report(name).job.unicodeScalars.elementsEqual(name.unicodeScalars))
      #expect(folders.exists("\(name)/images/\(number).jpg"))
    }
  }

  @Test func `whoever names a file whose name is not UTF-8 is told so`() throws {
    let folders = try DarkroomFolders()
    let script = "echo a.jpg > $'bad\\xff.txt'; darkroom run $'bad\\xff.txt'"
    let run = try DarkroomProcess.run(script: script, in: folders.folder).expect(status: 66)
    #expect(run.error.contains("its name is not UTF-8"), "\(run.error)")
  }

  @Test func `500 manifests at once are 500 jobs`() throws {
    let folders = try DarkroomFolders()
    for number in 0..<500 {
      // One in ten has a picture, one in ten is rejected.
      let (name, text) = number % 10 == 1 ? ("\(number).json", "oops") : ("\(number).txt", "")
      try Data((number % 10 == 0 ? "coffee.jpg\n" : text).utf8).write(
        to: URL(fileURLWithPath: folders.inbox + "/" + name))
    }
    let run = try folders.run(["--filters", "none", "--quiet"]).expect(status: 65)
    #expect(Set(run.output.split(separator: "\n")).count == 500)
    #expect(try folders.inboxNames().isEmpty)
    for number in 0..<500 {
      let report = try folders.report("\(number)")
      #expect(report.state == (number % 10 == 1 ? "rejected" : "succeeded"))
      #expect(report.counts.filtered == (number % 10 == 0 ? 1 : 0))
    }
  }
}

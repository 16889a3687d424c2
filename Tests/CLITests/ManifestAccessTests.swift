import Foundation
import TestSupport
import Testing

/// Who may read a manifest: what is dropped can be read by a service of another user, and comes back readable for who dropped
/// it; what holds secrets is its owner's.
@Suite(.blocking) struct ManifestAccessTests {
  private func mode(_ path: String) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? 0
  }

  private func write(_ text: String, to path: String, mode: Int) throws {
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    #expect(chmod(path, mode_t(mode)) == 0)
  }

  @Test(arguments: [0o644, 0o640, 0o600, 0o604, 0o444])
  func `a manifest comes back with the mode with which it was dropped`(dropped: Int) throws {
    let folders = try DarkroomFolders()
    try write("coffee.jpg\n", to: folders.inbox + "/job.txt", mode: dropped)
    try write("{", to: folders.inbox + "/rejected.json", mode: dropped)
    #expect(try folders.run(["--filters", "none"]).status == 65)
    #expect(try folders.mode("job/manifest.txt") == dropped)
    #expect(try folders.mode("rejected/manifest.json") == dropped)
    #expect(try folders.ask("retry", ["job"]).status == 0)
    #expect(try mode(folders.inbox + "/job.txt") == dropped)
  }

  static let secrets = [
    ("a.json", #"[{"url": "coffee.jpg", "headers": {"X-Token": "s"}}]"#),
    ("a.json", #"[{"url": "coffee.jpg", "body": "s"}]"#),
    ("a.json", #"[{"url": "coffee.jpg", "form": {"token": "s"}}]"#),
    ("a.json", #"{"defaults": {"headers": {"X-Token": "s"}}, "entries": ["coffee.jpg"]}"#),
    ("a.json", #"{"defaults": {"headers": {"X-Token": "s"}}, "entries": []}"#),
    ("a.json", #"{"defaults": {"headers": {"X-Token": "s"}}, "entries": [{"url": "coffee.jpg", "headers": {}}]}"#),
    ("a.json", #"["http://user:s@127.0.0.1:1/a.jpg"]"#),
    ("a.json", #"[{"url": ["coffee.jpg", "http://user:s@127.0.0.1:1/a.jpg"]}]"#),
    ("a.txt", "coffee.jpg\n  header=X-Token: s\n"),
    ("a.json", #"[{"url": "coffee.jpg", "headers": {"X-Token": "s"}"#),
    ("a.json", #"["http://user:s@127.0.0.1:1/a.jpg", "#),
    ("a.csv", "url,headers\ncoffee.jpg\n"),
  ]

  @Test(arguments: secrets)
  func `one that holds secrets is its owner's alone`(file: String, text: String) throws {
    let folders = try DarkroomFolders()
    try write(text, to: folders.inbox + "/" + file, mode: 0o644)
    _ = try folders.run(["--filters", "none"])
    #expect(try folders.mode("a/manifest." + file.dropFirst(2)) == 0o600)
  }

  @Test(arguments: [
    (
      "a.json",
      #"[{"url": "coffee.jpg", "format": "png", "metadata": {"headers": "a@b"}}, "http://127.0.0.1:1/@a.jpg"]"#,
      Int32(1)
    ),
    ("a.json", #"[{"url": "form/header.jpg", "name": "body", "metadata": "me@work, a form"}"#, 65),
    ("a.txt", "photos//icon@2x.png\nhttp://127.0.0.1:1/@body.jpg\n  other=header\n", 65),
    ("a.csv", "url,name\nheader.jpg,body,form\n", 65),
  ])
  func `what looks like a secret and is none stays readable, also in a rejected one`(
    file: String, text: String, status: Int32
  ) throws {
    let folders = try DarkroomFolders()
    try write(text, to: folders.inbox + "/" + file, mode: 0o644)
    try folders.run(["--filters", "none"]).expect(status: status)
    #expect(try folders.mode("a/manifest." + file.dropFirst(2)) == 0o644)
  }

  @Test func `add keeps the file's mode, and gives URLs that of any new file`() throws {
    let folders = try DarkroomFolders()
    for (name, bits) in [("open", 0o644), ("group", 0o640), ("own", 0o600)] {
      let path = folders.folder.file(name + ".txt")
      try write("coffee.jpg\n", to: path, mode: bits)
      let add = try DarkroomProcess.run(
        script: "umask 077; darkroom add --inbox inbox \(name).txt", in: folders.folder)
      #expect(add.status == 0 && add.error.isEmpty, "\(add.error)")
      #expect(try mode(folders.inbox + "/\(name).txt") == bits)
    }
    let urls = """
      umask 027
      darkroom add --inbox inbox --name urls http://h.example/a.jpg
      darkroom add --inbox inbox --name secret http://user:pass@h.example/a.jpg
      """
    #expect(try DarkroomProcess.run(script: urls, in: folders.folder).status == 0)
    #expect(try mode(folders.inbox + "/urls.jsonl") == 0o640)
    #expect(try mode(folders.inbox + "/secret.jsonl") == 0o600)
  }

  @Test(.enabled(if: TwoUsers.obstacle == nil, "needs two users: \(TwoUsers.obstacle ?? "")"))
  func `wait and cancel say that the service cannot read a manifest, which they can`() throws {
    let users = try TwoUsers()
    let watch = try users.watch()
    #expect(try watch.waitForLine(containing: "watching") != nil)
    let path = try users.folders.folder.write("coffee.jpg\n", as: "own.jsonl")
    #expect(chmod(path, 0o600) == 0 && rename(path, users.folders.inbox + "/own.jsonl") == 0)
    #expect(try watch.waitForLine(containing: "own.jsonl in the inbox is ignored") != nil)
    let why = "own.jsonl in the inbox is ignored: it cannot be read"
    for command in ["wait", "cancel"] {
      let told = try eventually({ try users.folders.ask(command, ["own"]) }, is: { $0.error.contains(why) })
      #expect(told.status == 66 && told.error.contains(why), "\(told.error)")
    }
    let all = try DarkroomCommand.run(["cancel", "--all"] + users.folders.named)
    #expect(!all.output.contains("own") && !all.error.contains("own"), "\(all.error)")
    #expect(try users.folders.inboxNames() == ["own.jsonl"])
    // Another file of the job's name is taken.
    try Data().write(to: URL(fileURLWithPath: users.folders.inbox + "/x.lock"))
    #expect(try watch.waitForLine(containing: "paused") != nil)
    try users.drop("own.txt")
    let cancelled = try users.folders.ask("cancel", ["own"])
    #expect(cancelled.status == 0 && cancelled.error.contains("cancelling own"), "\(cancelled.error)")
    try users.folders.unlock()
    #expect(try watch.waitForLine(containing: "own: cancelled") != nil)
    try watch.stop()
  }

  @Test(.enabled(if: TwoUsers.obstacle == nil, "needs two users: \(TwoUsers.obstacle ?? "")"))
  func `a service of another user processes what was added, and who added it can read it again`() throws {
    let users = try TwoUsers()
    let add = try users.attack(
      """
      folder=$(mktemp -d); cd $folder; program=$OLDPWD/darkroom; inbox=$OLDPWD/inbox; samples=$OLDPWD/samples
      echo coffee.jpg >open.txt; echo coffee.jpg >group.txt; echo coffee.jpg >own.txt
      chmod 644 open.txt; chmod 664 group.txt; chmod 600 own.txt
      for name in open group own; do $program add --inbox $inbox $name.txt; done
      $program add --inbox $inbox --name urls file://$samples/coffee.jpg
      cd /; rm -r $folder
      """)
    #expect(add.status == 0 && add.output == "open\ngroup\nown\nurls\n", "\(add.error)")
    #expect(add.error.split(separator: "\n").count == 1, "\(add.error)")
    #expect(add.error.contains("only you can read own.txt"), "\(add.error)")
    let run = try users.run().expect(status: 0)
    #expect(run.error.contains("own.txt in the inbox is ignored: it cannot be read"), "\(run.error)")
    for job in ["open", "group", "urls"] { #expect(try users.folders.report(job).state == "succeeded") }
    #expect(
      try users.attack("cat outbox/open/manifest.txt outbox/group/manifest.txt").output == "coffee.jpg\ncoffee.jpg\n")
    // The service is no member of the group.
    #expect(try users.folders.mode("group/manifest.txt") == 0o604)
    // Who drops it again needs no state, which is the service's alone, and creates none.
    #expect(chmod(users.folders.folder.file("other"), 0o700) == 0)
    for (state, job) in [("other", "open"), ("new", "group")] {
      let retry = try users.attack("./darkroom retry \(job) --inbox inbox --outbox outbox --state \(state) --create")
      #expect(retry.status == 0 && retry.output == job + "\n", "\(retry.error)")
    }
    #expect(!FileManager.default.fileExists(atPath: users.folders.folder.file("new")))
    #expect(try users.attack("rm inbox/open.txt inbox/group.txt").status == 0)
    // Root puts it back as its owner's.
    #expect(try DarkroomCommand.run(["retry", "open"] + users.folders.named).status == 0)
    let owner = try FileManager.default.attributesOfItem(atPath: users.folders.inbox + "/open.txt")
    #expect(owner[.ownerAccountName] as? String == "daemon" && owner[.posixPermissions] as? Int == 0o604)
  }

  /// What CIFS and others answer that know no modes.
  @Test(arguments: ["EPERM", "EOPNOTSUPP", "ENOSYS", "EIO"])
  func `add puts a manifest where modes are unknown, and ends with an error when the machine fails`(error: String)
    throws
  {
    let folders = try DarkroomFolders()
    try write("coffee.jpg\n", to: folders.folder.file("list.txt"), mode: 0o644)
    let add = try DarkroomProcess.run(
      script: """
        strace -f -qq -o /dev/null -e trace=fchmod -e inject=fchmod:error=\(error) darkroom add --inbox inbox list.txt
        """, in: folders.folder)
    #expect((add.status == 0) == (error != "EIO"), "\(add.error)")
    #expect(try folders.inboxNames() == (error == "EIO" ? [] : ["list.txt"]))
    if error != "EIO" { #expect(try mode(folders.inbox + "/list.txt") == 0o600, "it is as it was made") }
  }

  @Test(arguments: ["EPERM", "EOPNOTSUPP", "ENOSYS"])
  func `a run ends where modes are unknown, and says so once`(error: String) throws {
    let folders = try DarkroomFolders()
    for job in ["a", "b"] { try write("coffee.jpg\n", to: folders.inbox + "/\(job).txt", mode: 0o644) }
    try write(Self.secrets[0].1, to: folders.inbox + "/secret.json", mode: 0o644)
    let run = try folders.run(["--filters", "none"], injecting: "fchmod:error=\(error)")
    #expect(run.status == 0, "\(run.error)")
    for job in ["a", "b", "secret"] { #expect(try folders.report(job).state == "succeeded") }
    let warnings = run.error.split(separator: "\n").filter { $0.contains("decides itself who may read manifests") }
    #expect(warnings.count == 1, "\(run.error)")
    #expect(try folders.mode("a/manifest.txt") == 0o600 && folders.mode("secret/manifest.json") == 0o600)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file to any group"), arguments: ["EINTR", "EPERM", "EIO"])
  func `a group that cannot be given costs its permissions, an error of the machine is one`(error: String) throws {
    let folders = try DarkroomFolders()
    let list = folders.folder.file("list.txt")
    try write("coffee.jpg\n", to: list, mode: 0o640)
    #expect(chown(list, 0, 12345) == 0)
    let add = try DarkroomProcess.run(
      script: """
        strace -f -qq -o /dev/null -e trace=fchown -e inject=fchown:error=\(error):when=1 \\
          darkroom add --inbox inbox list.txt
        """, in: folders.folder)
    #expect((add.status == 0) == (error != "EIO"), "\(add.error)")
    guard error != "EIO" else { return }
    #expect(try mode(folders.inbox + "/list.txt") == (error == "EINTR" ? 0o640 : 0o600))
  }

  /// An inbox that gives new files its group: what is private to another group must not become readable by it.
  @Test(
    .enabled(if: TwoUsers.obstacle == nil, "needs two users: \(TwoUsers.obstacle ?? "")"),
    arguments: ["daemon", "root"])
  func `in an inbox of another group a manifest with secrets is its owner's alone, and that is said`(owner: String)
    throws
  {
    let users = try TwoUsers()
    let prepared = try DarkroomProcess.run(
      script: "chown \(owner):12345 inbox; chmod 2777 inbox", in: users.folders.folder)
    #expect(prepared.status == 0, "\(prepared.error)")
    let add = try users.attack(
      #"""
      folder=$(mktemp -d); cd $folder; program=$OLDPWD/darkroom; inbox=$OLDPWD/inbox
      echo "[{\"url\": \"a.jpg\", \"headers\": {\"X-Token\": \"s\"}}]" >secret.json
      cp secret.json open.json; gzip -k secret.json; echo coffee.jpg >plain.txt
      chmod 640 secret.json secret.json.gz plain.txt; chmod 644 open.json
      $program add --inbox $inbox secret.json; $program add --inbox $inbox --name packed secret.json.gz
      $program add --inbox $inbox open.json; $program add --inbox $inbox plain.txt
      cd /; rm -r $folder
      """#)
    #expect(add.status == 0, "\(add.error)")
    let modes = ["secret.json": 0o600, "packed.json.gz": 0o600, "open.json": 0o644, "plain.txt": 0o640]
    for (file, expected) in modes {
      #expect(try mode(users.folders.inbox + "/" + file) == expected, "\(file)")
      #expect(add.error.contains("only you can read " + file) == (expected == 0o600), "\(file): \(add.error)")
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file to any group"))
  func `a manifest of the inbox's own group stays readable by it`() throws {
    let folders = try DarkroomFolders()
    let list = folders.folder.file("list.json")
    try write(#"[{"url": "coffee.jpg", "body": "s"}]"#, to: list, mode: 0o640)
    #expect(chown(folders.inbox, 0, 12345) == 0 && chmod(folders.inbox, 0o2770) == 0)
    for (group, bits) in [(12345, 0o640), (12346, 0o600)] {
      #expect(chown(list, 0, gid_t(group)) == 0)
      #expect(try DarkroomCommand.run(["add", list, "--name", "g\(group)", "--inbox", folders.inbox]).status == 0)
      #expect(try mode(folders.inbox + "/g\(group).json") == bits)
    }
  }

  @Test(arguments: [
    ["add", "https://h.example/a.jpg"], ["pause"], ["resume"], ["retry", "job"], ["status"], ["status", "--json"],
    ["wait", "job"],
  ])
  func `only run and watch create the default folders`(words: [String]) throws {
    let folder = try TemporaryFolder()
    let elsewhere = try DarkroomCommand.run(words, in: folder).expect(status: 66)
    #expect(elsewhere.error.contains("--inbox: no such folder: inbox"), "\(elsewhere.error)")
    #expect(elsewhere.error.contains("go to the folder where darkroom works"), "\(elsewhere.error)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    #expect(try DarkroomProcess.run(["run"], in: folder).status == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["inbox", "outbox"])
  }
}

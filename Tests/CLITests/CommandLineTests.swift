import Foundation
import TestSupport
import Testing

@testable import DarkroomCLI

@Suite(.blocking) struct CommandLineTests {
  static let mistakes: [(words: [String], says: String)] = [
    ([], "a command is needed"),
    (["rnu"], "did you mean \"run\""),
    (["shard"], "shard needs an action: split"),
    (["shard", "run"], "shard run needs the folder of the shards"),
    (["cancel"], "cancel needs the name of a job"),
    (["cancel", "a", ".b"], "\".b\" is not the name of a job"),
    (["run", "--filter", "x"], "did you mean \"--filters\""),
    (["run", "--metadata", "al"], "did you mean \"all\""),
    (["run", "--gallery", "of"], "off"),
    (["run", "--damaged=acept"], "did you mean \"accept\""),
    (["run", "--chroma", "422"], "--chroma must be one of 420, 444"),
    (["run", "--jpeg-coding", "progresive"], "did you mean \"progressive\""),
    (["run", "--png-palette", "on"], "--png-palette must be one of off, lossless"),
    (
      ["run", "--notify", "ftp://u:p@h/"],
      "--notify must be an http or https URL, such as https://hooks.example/darkroom, not one with another scheme\n"
    ),
    (["watch", "--notify", "hooks.example/a"], "--notify must be an http or https URL"),
    (["status", "--exec", "f"], "--exec is for the commands run, watch"),
    (["run", "--downloads"], "--downloads needs a value"),
    (["run", "--downloads", "0"], "from 1 to 1024"),
    (["run", "--downloads", "many"], "\"many\""),
    (["run", "--quality=101"], "from 1 to 100"),
    (["run", "--format", "webm"], "webp"),
    (["run", "--format", "jepg"], "did you mean \"jpeg\""),
    (["run", "--filters", "sepai(1)"], "sepia"),
    (["run", "--filters", "url(#f)"], "not available in this version"),
    (["run", "--filters", "sepia(calc(1/2))"], "calc() is not available in this version"),
    (["run", "--allow-net", "10.0.0.0/99"], "10.0.0.0/99"),
    (["run", "--max-bytes", "12Q"], "12Q"),
    (["run", "--settle", "-1"], "seconds"),
    (["run", "--prune=never"], "--prune must be 1, true, yes or on, or else 0, false, no or off; not \"never\""),
    (["run", "--no-prune"], "unknown option \"--no-prune\"; did you mean \"--prune=off\"?"),
    (["status", "--prune=off"], "--prune is for the commands run, watch, doctor, not for status"),
    (["run", "-x"], "unknown option \"-x\""),
    (["run", "-filters", "none"], "unknown option \"-filters\"; did you mean \"--filters\"?"),
    (["run", "-filters=none"], "did you mean \"--filters\"?"),
    (["run", "-proxy=http://u:secret@h"], "unknown option \"-proxy\"; did you mean \"--proxy\"?"),
    (["watch", "http://u:secret@h/x"], "watch takes no operands"), (["doctor", "http://u:secret@h/x"], "no operands"),
    (["cancel", "http://u:secret@h/x"], "is not the name of a job"), (["gc", "http://u:secret@h/x"], "no operands"),
    (["pause", "http://u:secret@h/x"], "is not a name for a lock"), (["help", "http://u:secret@h/x"], "known: run"),
    (["run", "--name", "README", "-"], "for a file in the inbox: files that are called so are skipped"),
    (["add", "--name", "~$x", "-"], "for a file in the inbox: files that are called so are skipped"),
    (["run", "-help"], "did you mean \"--help\"?"),
    (["version"], "unknown command \"version\"; did you mean \"--version\"?"),
    (["grace"], "did you mean \"--grace\"?"),
    (["lists/Cats.JSON.gz"], "did you mean: run lists/Cats.JSON.gz\n"), (["my cats.txt"], "mean: run 'my cats.txt'\n"),
    (["https://a:secret@h.example/a.jpg"], "darkroom: a URL is not a command; did you mean \"add URL\"?"),
    (["watch", "extra"], "extra"),
    (["run", "--reason", "x"], "--reason is for the command pause, not for run"),
    (["pause", "--downloads", "3"], "--downloads is for the commands run, watch, doctor, not for pause"),
    (["watch", "--lock-wait", "0"], "--lock-wait is for the command run, not for watch"),
    (["filters", "sepia(1)"], "--explain"),
    (["run", "-", "-"], "standard input is read once: - is given 2 times"),
    (["add", "-", "-"], "standard input is read once"),
    (["check", "-", "a.json", "-"], "standard input is read once"),
    (["run", "--name", "x"], "--name is for -, standard input"),
    (["run", "--name", "x", "a.json"], "--name is for -, standard input; darkroom run --name x - < a.json"),
    (["run", "--name", "x", "a.json", "b.json"], "--name is for -, standard input; other jobs are called after their"),
    (["run", "--name", "../x", "-"], "is not a name for a file in the inbox: it begins with a dot"),
    (["run", "--name", "a/x", "-"], "is not a name for a file in the inbox: it contains a slash"),
    (["run", "--name", "Index.html", "-"], "is not a name for a file in the inbox: the outbox's page is called so"),
    (
      ["run", "--name", String(repeating: "x", count: 201), "-"],
      "--name \"\(String(repeating: "x", count: 60))…\" is not a name for a file in the inbox: it is longer than 200 bytes"
    ),
    (["run", "--prune", "off", "c.txt"], "the value of --prune follows =: --prune=off"),
    (["check", "--json", "NO", "c.txt"], "there is no manifest \"NO\"; the value of --json follows =: --json=NO"),
    (["wait"], "wait needs the name of a job"),
    (["wait", "a", "../b"], "\"../b\" is not the name of a job"),
    (["wait", "--timeout", "-1", "a"], "--timeout must be a number of seconds"),
    (["help", "rnu"], "did you mean \"run\""),
    (["help", "zzzzzzzz"], "known: run, watch, status, add"),
    (["help", "run", "watch"], "one command, not 2"),
    (["add", "ftp://h.example/a.jpg"], "has the scheme \"ftp\"; allowed are http, https and file"),
    (["add", "https://h.example/a.jpg", "https://"], "https:// is not a URL"),
    (["retry", "a", "--max-pixels", "1"], "--max-pixels is for the commands run, watch, doctor, not for retry"),
  ]

  @Test(arguments: mistakes)
  func `a command line that cannot be understood ends with 64 and says what would be right`(
    words: [String], says: String
  ) throws {
    let folder = try TemporaryFolder()
    let run = try DarkroomCommand.run(words, in: folder).expect(status: 64)
    #expect(run.error.contains(says), "\(run.error)")
    #expect(run.output.isEmpty && !run.error.contains("secret"))
    #expect(run.error.matches(of: /see "darkroom help/).count == 1, "\(run.error)")
    #expect(!run.error.contains("help help"), "\(run.error)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test(arguments: ["1", "true", "YES", "on"], ["0", "False", "no", "off", ""])
  func `an option without a value is turned on and off by the documented words`(on: String, off: String) throws {
    let folder = try TemporaryFolder()
    try "[]".write(toFile: folder.file("job.json"), atomically: false, encoding: .utf8)
    for (word, isJSON) in [(on, true), (off, false)] {
      let run = try DarkroomCommand.run(["check", "job.json"], in: folder, environment: ["DARKROOM_JSON": word])
      #expect(run.status == 0 && run.output.hasPrefix("{") == isJSON, "\(word): \(run.output)\(run.error)")
      try #"{"json": "\#(word)"}"#.write(toFile: folder.file("config"), atomically: false, encoding: .utf8)
      let file = try DarkroomCommand.run(["check", "job.json", "--config", "config"], in: folder)
      #expect(file.output == run.output)
    }
  }

  @Test(arguments: OptionTests.flags)
  func `the command line turns off what the environment and the configuration file turn on`(name: String) throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("{\"\(name)\": true}", as: "config.json")
    func value(_ words: [String], _ environment: [String: String]) throws -> Bool? {
      let settings = try Settings(Arguments(["run", "--config", file] + words), environment: environment)
      return OptionTests.value(of: name, in: settings)
    }
    let variable = "DARKROOM_" + name.uppercased().replacing("-", with: "_")
    #expect(try value([], [:]) == true)
    #expect(try value([], [variable: "off"]) == false)
    for word in ["off", "False", "no", "0", ""] {
      #expect(try value(["--\(name)=\(word)"], [variable: "1"]) == false, "\(word)")
    }
    for word in ["on", "YES", "true", "1"] {
      #expect(try value(["--\(name)=\(word)"], [variable: "off"]) == true, "\(word)")
    }
    #expect(try value(["--\(name)=off", "--\(name)"], [:]) == true, "the last one counts")
    #expect(try value(["--\(name)", "--\(name)=off"], [:]) == false, "the last one counts")
  }

  @Test func `a word that turns nothing on or off is refused with those that do, all of them documented`() throws {
    let run = try DarkroomCommand.run(["status"], environment: ["DARKROOM_JSON": "maybe"]).expect(status: 64)
    #expect(run.error.contains("DARKROOM_JSON must be 1, true, yes or on, or else 0, false, no or off; not \"maybe\""))
    let page = try Documentation.text("Documentation/options.md").replacing("\n", with: " ")
    #expect(page.contains("turned on by `1`, `true`, `yes` or `on`, and off by `0`, `false`, `no`, `off` or nothing"))
  }

  @Test(arguments: [
    ("DARKROOM_FOO", nil), ("DARKROOM_FILTER", "DARKROOM_FILTERS"), ("DARKROOM_DOWNLOAD", "DARKROOM_DOWNLOADS"),
    ("DARKROOM_X", nil),
  ])
  func `an unknown variable is named, and the nearest only if it is near`(name: String, nearest: String?) throws {
    let run = try DarkroomCommand.run(["filters"], environment: [name: "x"]).expect(status: 64)
    let suggestion = nearest.map { "; did you mean \"\($0)\"?" } ?? ""
    #expect(run.error.hasPrefix("darkroom: unknown environment variable \"\(name)\"\(suggestion)\n"), "\(run.error)")
  }

  @Test func `help works whatever the environment and the configuration file hold, and filters are explained`() throws {
    let folder = try TemporaryFolder()
    try "{".write(toFile: folder.file("config.json"), atomically: false, encoding: .utf8)
    let environment = [
      "DARKROOM_UNKNOWN": "x", "DARKROOM_JOBS": "none", "DARKROOM_CONFIG": folder.file("config.json"),
      "http_proxy": ":::",
    ]
    for words in [["help"], ["help", "run"], ["run", "--help"], ["--version"]] {
      let help = try DarkroomCommand.run(words, in: folder, environment: environment)
      #expect(help.status == 0 && help.error.isEmpty, "\(words): \(help.error)")
    }
    #expect(try DarkroomCommand.run(["--version"]).output.hasPrefix("darkroom "))
    #expect(try DarkroomCommand.run(["filters", "--explain", "none"]).output.contains("copy the file"))
    let explained = try DarkroomCommand.run(["filters", "--explain", "CISepiaTone(0.8) invert()"]).output
    #expect(explained.contains("sepia(0.8)") && explained.contains("invert(1)"))
    #expect(try DarkroomCommand.run(["help", "--per-host", "3"], in: folder).status == 64)
    #expect(try DarkroomCommand.run(["filters"], in: folder, environment: environment).status == 64)
  }

  @Test(arguments: [
    ("DARKROOM_INBOX", "/none", "DARKROOM_INBOX: no such folder: /none"),
    ("DARKROOM_CONFIG", "/none", "DARKROOM_CONFIG: /none: No such file"),
    ("DARKROOM_CONFIG", "", "DARKROOM_CONFIG must not be empty"),
    ("DARKROOM_JOBS", "none", "DARKROOM_JOBS must be a whole number"),
    ("DARKROOM_MIN_PIXELS", "1G", "DARKROOM_MIN_PIXELS is 1000000000 and --max-pixels is"),
  ])
  func `a variable with a wrong value is blamed, and not the option of its name`(
    variable: String, value: String, says: String
  ) throws {
    let folder = try TemporaryFolder()
    let run = try DarkroomCommand.run(["status"], in: folder, environment: [variable: value])
    #expect([64, 66].contains(run.status) && run.error.contains(says), "\(run.error)")
    let option = "--" + variable.dropFirst("DARKROOM_".count).lowercased().replacing("_", with: "-")
    #expect(!run.error.contains(option), "\(run.error)")
  }

  @Test(arguments: ["/none", "/etc", "/dev/null"])
  func `authorities that cannot be used are a warning at the start, and a finding of doctor`(file: String) throws {
    let folders = try DarkroomFolders()
    for variables in [["CURL_CA_BUNDLE": file], ["CURL_CA_BUNDLE": "", "SSL_CERT_FILE": file]] {
      let run = try DarkroomProcess.run(["run"] + folders.options, environment: variables).expect(status: 0)
      #expect(run.error.contains("no https: URL can be downloaded") && run.error.contains("cannot be used: \(file): "))
      let doctor = try DarkroomProcess.run(["doctor"] + folders.options, environment: variables).expect(status: 1)
      #expect(doctor.output.contains("certificates no https: URL can be downloaded"), "\(doctor.output)")
    }
  }

  @Test func `relative paths in the configuration file are relative to its folder`() throws {
    let (folder, elsewhere) = (try TemporaryFolder(), try TemporaryFolder())
    for name in ["in", "out", "pictures"] { try folder.makeFolder(name) }
    try folder.write(
      #"{"inbox": "in", "outbox": "./out", "lock-file": "stop", "file-root": "pictures", "filters": "none"}"#,
      as: "darkroom.json")
    try folder.write("lunch", as: "stop")
    try folder.write("a.jpg", as: "in/job.txt")
    try FileManager.default.copyItem(
      atPath: packageRoot + "/Samples/coffee.jpg", toPath: folder.file("pictures/a.jpg"))
    let near = "../" + (folder.path as NSString).lastPathComponent + "/darkroom.json"
    let paused = try DarkroomProcess.run(
      ["run", "--settle", "0", "--lock-wait", "0", "--config", folder.file("darkroom.json")], in: elsewhere)
    #expect(paused.status == 75 && paused.error.contains("lunch"), "\(paused.error)")
    try FileManager.default.removeItem(atPath: folder.file("stop"))
    try DarkroomProcess.run(["run", "--settle", "0", "--config", near], in: elsewhere).expect(status: 0)
    #expect(FileManager.default.fileExists(atPath: folder.file("out/job/images/a.jpg")))
    #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path).isEmpty)
  }

  @Test func `a key with a wrong value is blamed with its file`() throws {
    let folder = try TemporaryFolder()
    try folder.makeFolder("inbox")
    let config = folder.file("config.json")
    func error(_ text: String) throws -> String {
      try text.write(toFile: config, atomically: false, encoding: .utf8)
      let run = try DarkroomCommand.run(["status", "--config", config], in: folder)
      #expect(run.status != 0, "\(text)")
      return run.error
    }
    #expect(try error(#"{"outbox": "/none"}"#).contains(#"config.json: "outbox": no such folder: /none"#))
    let numbers = ["downloads", "jobs", "lock-file", "max-bytes"]
    for key in numbers {
      #expect(
        try error("{\"\(key)\": true}").contains(
          "\"\(key)\" must be a string, a number or an array of these, not a bool"))
    }
    #expect(try error(#"{"allow-net": [true]}"#).contains("not a boolean"))
    for key in ["lock-file", "inbox", "state"] {
      #expect(try error("{\"\(key)\": \"\"}").contains("\"\(key)\" must not be empty"))
    }
    #expect(try error(#"{"refresh": {}}"#).contains("must be a boolean, a number or a string, not an object"))
    try #"{"refresh": true, "create": false}"#.write(toFile: config, atomically: false, encoding: .utf8)
    #expect(try DarkroomCommand.run(["status", "--config", config], in: folder).status == 0)
  }

  @Test(arguments: [
    ("reason", "\"reason\" is not a key, but option --reason of pause"),
    ("name", "\"name\" is not a key, but option --name of add, run, shard"),
    ("config", "\"config\" names this file, and is not a key of it"),
    ("interval", "\"interval\" is not a key of the file, but of a rule for a host, in \"hosts\""),
    ("xyz", "unknown key \"xyz\""), ("per_host", "unknown key \"per_host\"; did you mean \"per-host\"?"),
  ])
  func `a key that is none is an error that says what it is elsewhere, or names the nearest`(
    key: String, told: String
  ) throws {
    let folder = try TemporaryFolder()
    try Data("{\"\(key)\": \"x\"}".utf8).write(to: URL(fileURLWithPath: folder.file("c.json")))
    let run = try DarkroomCommand.run(["filters", "--config", "c.json"], in: folder)
    #expect(run.status == 64 && run.error.hasPrefix("darkroom: c.json: \(told)\n"), "\(run.error)")
  }

  @Test func `an empty XDG_CONFIG_HOME is none`() throws {
    let folder = try TemporaryFolder()
    let home = folder.file(".config/darkroom")
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
    try #"{"jobs": "none"}"#.write(toFile: home + "/config.json", atomically: false, encoding: .utf8)
    let environment = ["XDG_CONFIG_HOME": "", "HOME": folder.path]
    let run = try DarkroomCommand.run(["filters"], in: folder, environment: environment)
    #expect(run.status == 64 && run.error.contains(".config/darkroom/config.json: \"jobs\""), "\(run.error)")
  }

  @Test func `the default folders are created, named ones must exist or be asked for`() throws {
    let folder = try TemporaryFolder()
    #expect(try DarkroomProcess.run(["run"], in: folder).status == 0)
    #expect(Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)) == ["inbox", "outbox"])
    let missing = try DarkroomProcess.run(["run", "--inbox", "a/b"], in: folder).expect(status: 66)
    #expect(missing.error.contains("--create"))
    #expect(try DarkroomProcess.run(["run", "--inbox", "a/b", "--create"], in: folder).status == 0)
    let mode = try FileManager.default.attributesOfItem(atPath: folder.file("outbox/.darkroom"))
    #expect((mode[.posixPermissions] as? Int) == 0o711)
  }

  @Test func `who does not become the instance creates nothing`() throws {
    let folders = try DarkroomFolders()
    // It says what it does, unless it is to be quiet.
    let watch = try folders.start("watch")
    #expect(
      try watch.waitForLine(containing: "watching \(folders.inbox), writing to \(folders.outbox)") != nil)
    let before = try FileManager.default.contentsOfDirectory(atPath: folders.folder.path).sorted()
    let new = ["inbox", "outbox", "state"].map { folders.folder.file("new/\($0)") }
    for words in [
      ["--inbox", folders.inbox, "--outbox", folders.outbox, "--state", new[2]],
      ["--inbox", folders.inbox, "--outbox", new[1]],
      ["--inbox", new[0], "--outbox", folders.outbox, "--state", new[2]],
    ] {
      let run = try DarkroomProcess.run(["run", "--create"] + words)
      #expect(run.status == 75 && run.error.contains("process \(watch.processID)"), "\(run.error)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folders.folder.path).sorted() == before)
    }
    try watch.stop()
    let created = try DarkroomProcess.run(
      ["run", "--create", "--inbox", new[0], "--outbox", new[1], "--state", new[2] + "/./deep/"])
    #expect(created.status == 0, "\(created.error)")
    #expect(FileManager.default.fileExists(atPath: new[2] + "/deep/ledger.sqlite"))
    let run = try folders.run(["--verbose"])
    #expect(run.error.contains("processing \(folders.inbox), writing to \(folders.outbox)"), "\(run.error)")
    #expect(!run.error.contains("watching"))
  }

  @Test func `an outbox that cannot be written ends with 73`() throws {
    let folder = try TemporaryFolder()
    try Data().write(to: URL(fileURLWithPath: folder.file("file")))
    #expect(
      try DarkroomProcess.run(["run", "--outbox", folder.file("file") + "/x", "--create"], in: folder).status
        == 73)
  }
}

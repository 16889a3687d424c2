/// `darkroom(1)`: the commands, options, variables, keys and exit codes.
enum DarkroomPage {
  static let summary = "drop a list of picture URLs into a folder, get filtered pictures and a report in another"

  /// The examples that come first.
  static let examples = [
    "darkroom run",
    "darkroom watch --inbox /srv/in --outbox /srv/out --create",
    "darkroom status",
  ]

  static let precedence = """
    Options are also environment variables and keys of the configuration file: --per-host is DARKROOM_PER_HOST and "per-host".
    The exceptions are the "options of one command", which are neither, and --config, which is no key. The command line
    overrides the environment, and the environment overrides the file: --prune=off turns off what they turn on.
    """

  static func page(_ groups: [CommandGroup]) -> ManualPage {
    ManualPage(
      name: "darkroom", section: 1, summary: summary,
      usages: groups.flatMap(\.commands).map { ($0.name, $0.operands) },
      chapters: [
        .init("description", [.text(description)]), commands(groups), options,
        .init("configuration", [.text(configuration), .text(hosts), .terms(hostKeys)]),
        .init("environment", [.text(environment), .terms(variables)]),
        .init("files", [.terms(files)]),
        .init(
          "exit status", [.text("The first that applies of 130, 143, 70, 73, 75, 66, 65, 1 and 0."), .terms(codes)]),
        .init("examples", [.text("Each command above has its own examples, too."), .code(examples)]),
      ],
      related: [("darkroom-events", 5), ("darkroom-manifest", 5), ("darkroom-report", 5), ("crontab", 5), ("curl", 1)])
  }

  private static let description = """
    Manifests that are dropped into one folder, the inbox, become finished pictures and a report in another, the outbox. Every
    entry of a manifest is downloaded, or read from a folder, and filtered. `darkroom-manifest(5)` describes manifests,
    `darkroom-report(5)` the files in the outbox. While the inbox holds a file whose name ends in `.lock`, nothing is started.
    Options may come before and after operands; `--` ends them, and a value follows after a space or a `=`. An option without a
    value may have `=on` or `=off`. A command rejects options that it does not take.
    """

  private static func commands(_ groups: [CommandGroup]) -> ManualPage.Chapter {
    .init(
      "commands",
      groups.flatMap { group -> [ManualPage.Block] in
        [
          .heading(group.heading),
          .terms(
            group.commands.map { command in
              let details = command.details.split(separator: "\n\n").map { ManualPage.Block.text(String($0)) }
              return .init(
                .command(command.name, operands: command.operands),
                [.text(sentence(command.summary))] + details + [.code(command.examples)])
            }),
        ]
      })
  }

  private static let takers = "Unless a description or a heading names others, an option is taken by run and watch."

  private static let options: ManualPage.Chapter = {
    var blocks = [ManualPage.Block.text(precedence), .text(takers)]
    for group in OptionTable.groups {
      let items = group.options.map { option in
        let commands = option.commands.flatMap { $0 == ["run", "watch"] ? nil : $0 }
        let takers = commands.map { " Taken by " + $0.joined(separator: ", ") + "." } ?? ""
        return ManualPage.Item(.option(option), sentence(option.summary + option.shownDefault) + takers)
      }
      blocks += [.heading(group.heading), .terms(items)]
    }
    let others = OptionTable.informational.map { letter, name, summary in
      ManualPage.Item(.literal((letter.map { "-\($0), " } ?? "") + "--" + name), sentence(summary))
    }
    return .init("options", blocks + [.heading("others"), .terms(others)])
  }()

  private static let configuration = """
    The configuration is a JSON object in the file that --config or `DARKROOM_CONFIG` names, else in the first that exists of
    those below FILES. A flag is `true` or `false`; the value of another option is a number or a string; an array stands for a
    list with commas. Relative paths are relative to the file's folder. Keys that begin with `_` are comments. Unknown keys are
    errors.
    """

  private static let hosts = """
    The key `hosts` is an object of rules by host: a name, a pattern such as `*.example.org`, or either with a port. A rule is an
    object with these keys:
    """

  private static let hostKeys = HostRuleReader.keys.map { key in
    ManualPage.Item(.literal("\"\(key.name)\""), key.summary)
  }

  private static let environment = """
    Unknown variables that begin with `DARKROOM_` are errors. A flag is on with 1, true, yes or on, and off with 0, false, no, off
    or an empty value. Relative paths are relative to the current folder. These variables count, too:
    """

  private static let variables: [ManualPage.Item] = [
    .init(.variable("http_proxy"), "the proxy for http: URLs, as with curl; in lower case only"),
    .init(.variable("https_proxy"), "the proxy for https: URLs"),
    .init(.variable("all_proxy"), "the proxy for both, where the others are not set"),
    .init(.variable("no_proxy"), "hosts, domains and networks without a proxy; * for all"),
    .init(.variable("CURL_CA_BUNDLE"), "the file of certificate authorities"),
    .init(.variable("SSL_CERT_FILE"), "the same, if CURL_CA_BUNDLE is not set"),
    .init(.variable("SSL_CERT_DIR"), "a folder of further authorities, named by their hashes"),
    .init(.variable("NETRC"), "the file of names and passwords for rules with \"netrc\": true, instead of ~/.netrc"),
    .init(
      .variable("DARKROOM_NOTIFY_SECRET"), "the key with which requests of --notify are signed (HMAC-SHA256); no option"
    ),
    .init(.variable("NO_COLOR"), "no colours on a terminal"),
    .init(.variable("XDG_CONFIG_HOME"), "the folder of the user's configuration, instead of ~/.config"),
  ]

  private static let files: [ManualPage.Item] = [
    .init(.path("~/.config/darkroom/config.json"), "the user's configuration file"),
    .init(.path("/etc/darkroom/config.json"), "the system's, if the user has none"),
    .init(.path("INBOX/JOB.EXT"), "a manifest; it moves to the outbox when its job is done"),
    .init(
      .path("INBOX/NAME.lock"), "a lock: while there is one, both queues are suspended; its first line is the reason"),
    .init(.path("OUTBOX/JOB/"), "pictures and report of a job"),
    .init(.path("OUTBOX/.darkroom/"), "the ledger and the cache, unless --state names another folder; status.json"),
  ]

  private static let codes = ExitCode.allCases.map { code in
    ManualPage.Item(.literal(String(code.rawValue)), code.summary)
  }

  private static func sentence(_ summary: String) -> String {
    summary.prefix(1).uppercased() + summary.dropFirst() + "."
  }
}

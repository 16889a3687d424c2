import Testing

@testable import DarkroomCLI
@testable import Model

@Suite struct OptionTests {
  /// The options without a value that `run` takes.
  static let flags = ["refresh", "json", "keep-originals", "prune", "fail-empty", "create", "quiet", "verbose"]

  /// Whether one of them is on.
  static func value(of flag: String, in settings: Settings) -> Bool {
    switch flag {
    case "refresh": settings.configuration.refresh
    case "json": settings.isJSON
    case "keep-originals": settings.configuration.keepOriginals
    case "prune": settings.configuration.prune
    case "fail-empty": settings.configuration.failEmpty
    case "create": settings.create
    case "quiet": settings.verbosity == .quiet
    default: settings.verbosity == .verbose
    }
  }

  @Test func `those are all options without a value that a configuration file may turn on`() {
    #expect(Set(Self.flags) == Set(OptionTable.general.filter { $0.valueName == nil }.map(\.name)))
  }

  @Test func `another outbox is accepted by --create only while it is on, and not by the environment`() throws {
    let environment = ["XDG_CONFIG_HOME": "/nowhere", "DARKROOM_CREATE": "1"]
    for (words, isAccepted) in [(["--create"], true), (["--create=on"], true), (["--create=off"], false), ([], false)] {
      let settings = try Settings(Arguments(["run"] + words), environment: environment)
      #expect(settings.configuration.replacesOutbox == isAccepted, "\(words)")
    }
  }

  @Test func `a default that the help prints is a value that the option takes`() throws {
    let values = OptionTable.all.compactMap { option -> (DarkroomCLI.Option, String)? in
      guard case .value(let text) = option.defaultValue else { return nil }
      return (option, text)
    }
    #expect(values.count > 15)
    for (option, text) in values {
      var settings = Settings.defaults
      #expect(throws: Never.self, "--\(option.name) \(text)") { try option.apply(&settings, text) }
    }
  }

  @Test func `options have different names, letters and variables, and commands that exist`() {
    let options = OptionTable.all
    for command in CommandTable.all.map(\.name) {
      let names = options.filter { $0.isTaken(by: command) }.map(\.name)
      #expect(Set(names).count == names.count, "\(command)")
    }
    #expect(Set(OptionTable.general.map(\.variable)).count == OptionTable.general.count)
    #expect(Set(options.compactMap(\.letter)).count == options.compactMap(\.letter).count)
    #expect(Set(options.flatMap { $0.commands ?? [] }).subtracting(CommandTable.all.map(\.name)).isEmpty)
  }

  @Test(arguments: [
    ("0", 0, "0"), ("1", 1, "1"), ("1023", 1023, "1023"), ("1024", 1024, "1K"), ("256m", 256 << 20, "256M"),
    ("1G", 1 << 30, "1G"), ("1536M", 1536 << 20, "1536M"), ("2048g", 2 << 40, "2048G"),
  ])
  func `bytes are read with units of 1024 and printed with the largest that divides them`(
    text: String, bytes: Int, printed: String
  ) throws {
    #expect(try OptionValue.bytes.parse(text) == bytes)
    #expect(OptionValue.bytes.text(bytes) == printed)
  }

  @Test(arguments: [("2", 2.0), ("0.05", 0.05), ("1e3", 1000)])
  func `seconds that are printed are read as the same`(text: String, seconds: Double) throws {
    let value = OptionValue<Double>.seconds(from: 0)
    #expect(try value.parse(text) == seconds)
    #expect(try value.parse(#require(value.text(seconds))) == seconds)
    let duration = OptionValue<Duration>.seconds(from: 0)
    #expect(try duration.parse(text) == .seconds(seconds))
    #expect(duration.text(.seconds(seconds)) == value.text(seconds))
  }

  @Test(arguments: [
    ("90", 90.0), ("90s", 90), ("15m", 900), ("8h", 28_800), ("2d", 172_800), ("0.5h", 1800), ("1e3s", 1000), ("0", 0),
  ])
  func `times have units`(text: String, seconds: Double) throws {
    #expect(try OptionValue<Double>.duration(from: 0).parse(text) == seconds)
    #expect(try OptionValue<Double>.seconds(from: 0).parse(text) == seconds)
    let words = ["run", "--max-duration", "1m", "--retry-for", text, "--timeout", "2m"]
    let settings = try Settings(Arguments(words), environment: ["XDG_CONFIG_HOME": "/nowhere"])
    #expect(settings.configuration.deferral.seconds == seconds)
    #expect(settings.configuration.maxDuration == 60)
    #expect(settings.configuration.transfer.timeout == .seconds(120))
  }

  @Test func `no picture can be both small enough and large enough: a usage error names both limits`() throws {
    let words = ["run", "--min-pixels", "2M", "--max-pixels", "1M"]
    let error = #expect(throws: UsageError.self) { try Settings(Arguments(words), environment: [:]) }
    #expect(
      error?.description == "--min-pixels is 2000000 and --max-pixels is 1000000: every picture would fail")
    let variables = ["DARKROOM_MIN_PIXELS": "1M"]
    #expect(throws: Never.self) { try Settings(Arguments(["run", "--max-pixels", "1M"]), environment: variables) }
  }

  @Test(arguments: ["", "h", "1w", "1 h", "-1h", "1hh", "1H", "nan", "inf", "infd", "1e9d", "8:00"])
  func `what is no time is a usage error that names some`(text: String) {
    let error = #expect(throws: UsageError.self) { try OptionValue<Double>.duration(from: 0).parse(text) }
    #expect(error?.description == "must be a time such as 90, 90s, 15m, 8h or 2d, at least 0 s, not \"\(text)\"")
  }

  @Test func `--jobs is 16 unless set, and sets the configuration`() throws {
    #expect(Settings.defaults.configuration.jobs == 16)
    let environment = ["DARKROOM_JOBS": "3", "XDG_CONFIG_HOME": "/nowhere"]
    #expect(try Settings(Arguments(["run"]), environment: environment).configuration.jobs == 3)
    #expect(try Settings(Arguments(["run", "--jobs", "1024"]), environment: environment).configuration.jobs == 1024)
    #expect(throws: UsageError("--jobs must be a whole number from 1 to 1024, not \"1025\"")) {
      try Settings(Arguments(["watch", "--jobs=1025"]), environment: environment)
    }
  }

  @Test func `networks add up, flags that are off change nothing`() throws {
    let environment = ["XDG_CONFIG_HOME": "/nowhere", "DARKROOM_QUIET": "0"]
    let words = ["run", "--allow-net", "10.0.0.0/8,127.0.0.1", "-v", "--allow-net=fd00::/8"]
    let settings = try Settings(Arguments(words), environment: environment)
    let networks = settings.configuration.transfer.addressPolicy.allowedNetworks
    #expect(networks.map(\.description) == ["10.0.0.0/8", "127.0.0.1/32", "fd00::/8"])
    #expect(settings.verbosity == .verbose)
  }
}

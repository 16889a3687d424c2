import Model

extension Settings {
  /// Reads the configuration file, the environment and the command line; the later wins.
  /// - Parameter isOnlyLooking: Whether the command needs only the names of the folders: if these are given, a standard
  ///   configuration file that this user may not read is left out. Default: no.
  /// - Throws: `UsageError`, `StopError.missing`.
  init(_ arguments: Arguments, environment: [String: String], isOnlyLooking: Bool = false) throws {
    self.init()
    do {
      try configuration.transfer.adopt(environment: environment)
    } catch {
      throw UsageError(error.message)
    }
    if let seconds = environment["DARKROOM_TEST_SLOW_AFTER"].flatMap(Double.init), seconds > 0, seconds < 1e9 {
      configuration.slowAfter = seconds
    }
    if let seconds = environment["DARKROOM_TEST_MEMORY_PATIENCE"].flatMap(Double.init), seconds > 0, seconds < 1e9 {
      configuration.memoryPauseTime = seconds
    }
    if let root = environment["DARKROOM_TEST_KERNEL_ROOT"] { configuration.kernelRoot = root }
    let given = Set(arguments.options.map(\.name))
    let variables = try Self.variables(environment)
    self.environment = environment
    let option = arguments.options.last { $0.name == "config" }?.value
    let named =
      option.map { (path: $0, by: "--config") }
      ?? environment["DARKROOM_CONFIG"].map { (path: $0, by: "DARKROOM_CONFIG") }
    if let named, named.path.isEmpty { throw UsageError("\(named.by) must not be empty") }
    let folders = ["inbox", "outbox"]
    let hasFolders = folders.allSatisfy { name in
      given.contains(name) || variables.contains { $0.option.name == name }
    }
    let isNeeded = !(isOnlyLooking && hasFolders)
    if let file = try ConfigFile(named: named, isNeeded: isNeeded, environment: environment) {
      configPath = file.path
      configObstacle = file.obstacle
      configuration.recipes = file.recipes
      if let hosts = file.hosts {
        configuration.hosts = try HostRuleReader(file: file.path, environment: environment).rules(hosts)
      }
      for (name, value) in file.values {
        let option = try Self.option(forKey: name, in: file.path)
        if !given.contains(name), !variables.contains(where: { $0.option.name == name }) {
          let value = option.isPath && !value.isEmpty ? ConfigFile.resolved(value, in: file.path) : value
          try apply(option, value, as: "\(file.path): \"\(name)\"")
        }
      }
    }
    for (option, value) in variables where !given.contains(option.name) {
      try apply(option, value, as: option.variable)
    }
    try applyOptions(arguments)
    // In the environment or the configuration file it would apply to every start.
    configuration.replacesOutbox = given.contains("create") && create
    configuration.notify?.secret = environment[Self.secretVariable].flatMap { $0.isEmpty ? nil : $0 }
    if let least = configuration.minPixels, least > configuration.maxPixels {
      let names = ["min-pixels", "max-pixels"].map { origins[$0] ?? "--" + $0 }
      throw UsageError(
        "\(names[0]) is \(least) and \(names[1]) is \(configuration.maxPixels): every picture would fail")
    }
  }

  /// The variable with the key that signs notifications. It is no option, so that no file and no list of processes shows it.
  private static let secretVariable = "DARKROOM_NOTIFY_SECRET"

  /// The settings of the command line alone: for the help, which works whatever the environment and the file contain.
  /// - Throws: `UsageError`, `StopError.missing`.
  init(commandLine arguments: Arguments) throws {
    self.init()
    try applyOptions(arguments)
  }

  private mutating func applyOptions(_ arguments: Arguments) throws {
    for given in arguments.options {
      guard let option = OptionTable.option(named: given.name, of: arguments.command) else { continue }
      if let command = arguments.command, !option.isTaken(by: command) {
        let takers = CommandTable.all.map(\.name).filter { name in
          OptionTable.all.contains { $0.name == option.name && $0.isListed(for: name) }
        }
        throw UsageError(
          "--\(option.name) is for the command\(takers.count == 1 ? "" : "s") \(takers.joined(separator: ", ")), "
            + "not for \(command)")
      }
      try apply(option, given.value, as: "--" + option.name)
    }
  }

  private mutating func apply(_ option: Option, _ value: String, as name: String) throws {
    do {
      if option.valueName != nil, value.isEmpty { throw UsageError("must not be empty") }
      try option.apply(&self, value)
      origins[option.name] = name
    } catch let error as UsageError {
      throw UsageError("\(name) \(error)")
    } catch StopError.missing(let message) {
      throw StopError.missing("\(name): \(message)")
    }
  }

  /// The options that the environment sets, in the order of their variables.
  private static func variables(_ environment: [String: String]) throws -> [(option: Option, value: String)] {
    // Variables of other programs and of the tests, and those that this program sets for its children.
    let reserved = ["DARKROOM_JOB_", "DARKROOM_TEST_"]
    return try environment.sorted { $0.key < $1.key }.compactMap { variable, value in
      guard variable.hasPrefix("DARKROOM_"), !reserved.contains(where: variable.hasPrefix), variable != secretVariable
      else { return nil }
      guard let option = OptionTable.general.first(where: { $0.variable == variable }) else {
        throw UsageError.unknown(
          "environment variable", variable, prefix: "DARKROOM_", among: OptionTable.general.map(\.variable))
      }
      return (option, value)
    }
  }

  /// The option that a key of the configuration file sets.
  /// - Throws: `UsageError` for an unknown key, with the nearest known one.
  static func option(forKey key: String, in file: String) throws -> Option {
    if let option = OptionTable.general.first(where: { $0.name == key && key != "config" }) { return option }
    throw UsageError("\(file): \(unknownKey(key))")
  }

  private static func unknownKey(_ key: String) -> UsageError {
    if key == "config" { return UsageError("\"config\" names this file, and is not a key of it") }
    if let option = OptionTable.all.first(where: { $0.name == key }) {
      let takers = OptionTable.all.filter { $0.name == key }.flatMap { $0.commands ?? [] }
      return UsageError("\"\(key)\" is not a key, but option \(option.longName) of \(takers.joined(separator: ", "))")
    }
    if HostRuleReader.isKey(key) {
      return UsageError("\"\(key)\" is not a key of the file, but of a rule for a host, in \"hosts\"")
    }
    return .unknown("key", key, among: OptionTable.general.map(\.name).filter { $0 != "config" } + ConfigFile.otherKeys)
  }
}

import Darkroom

extension Settings {
  /// Reads the configuration file, the environment and the command line; the later wins.
  /// - Throws: `UsageError`, `StopError.missing`.
  init(_ arguments: Arguments, environment: [String: String]) throws {
    self.init()
    do {
      try configuration.transfer.adopt(environment: environment)
    } catch {
      throw UsageError(error.message)
    }
    if let seconds = environment["DARKROOM_TEST_SLOW_AFTER"].flatMap(Double.init), seconds > 0, seconds < 1e9 {
      configuration.slowAfter = seconds
    }
    let given = Set(arguments.options.map(\.name))
    // In the environment or the configuration file it would hold for every start.
    configuration.replacesOutbox = given.contains("create")
    let variables = try Self.variables(environment)
    self.environment = environment
    let file = arguments.options.last { $0.name == "config" }?.value ?? environment["DARKROOM_CONFIG"]
    if let file = try ConfigFile(named: file, environment: environment) {
      configPath = file.path
      if let hosts = file.hosts {
        configuration.hosts = try HostRuleReader(file: file.path, environment: environment).rules(hosts)
      }
      for (name, value) in file.values {
        let option = try Self.option(forKey: name, in: file.path)
        if !given.contains(name), !variables.contains(where: { $0.option.name == name }) {
          try apply(option, value, as: "\(file.path): \"\(name)\"")
        }
      }
    }
    for (option, value) in variables where !given.contains(option.name) {
      try apply(option, value, as: option.variable)
    }
    for given in arguments.options {
      guard let option = OptionTable.option(named: given.name) else { continue }
      if let command = arguments.command, !option.isTaken(by: command) {
        let takers = option.commands ?? []
        throw UsageError(
          "--\(option.name) is for the command\(takers.count == 1 ? "" : "s") \(takers.joined(separator: ", ")), "
            + "not for \(command)")
      }
      try apply(option, option.valueName == nil ? "1" : given.value, as: "--" + option.name)
    }
    if let least = configuration.minPixels, least > configuration.maxPixels {
      throw UsageError(
        "--min-pixels is \(least) and --max-pixels is \(configuration.maxPixels): every picture would fail")
    }
  }

  private mutating func apply(_ option: Option, _ value: String, as name: String) throws {
    do {
      if option.valueName != nil, value.isEmpty { throw UsageError("must not be empty") }
      try option.apply(&self, value)
    } catch let error as UsageError {
      throw UsageError("\(name) \(error)")
    }
  }

  /// The options that the environment sets, in the order of their variables.
  private static func variables(_ environment: [String: String]) throws -> [(option: Option, value: String)] {
    // Variables of other programs and of the tests, and those that this program sets for others.
    let reserved = ["DARKROOM_JOB_", "DARKROOM_TEST_"]
    return try environment.sorted { $0.key < $1.key }.compactMap { variable, value in
      guard variable.hasPrefix("DARKROOM_"), !reserved.contains(where: variable.hasPrefix) else { return nil }
      guard let option = OptionTable.general.first(where: { $0.variable == variable }) else {
        let name = variable.dropFirst("DARKROOM_".count).lowercased().replacing("_", with: "-")
        throw OptionTable.unavailable.contains(name)
          ? UsageError.unavailable("the environment variable \(variable)")
          : UsageError.unknown(
            "environment variable", variable, prefix: "DARKROOM_", among: OptionTable.general.map(\.variable))
      }
      return (option, value)
    }
  }

  /// The option that a key of the configuration file sets.
  /// - Throws: `UsageError` for an unknown key, with the nearest known one.
  static func option(forKey key: String, in file: String) throws -> Option {
    if let option = OptionTable.general.first(where: { $0.name == key && key != "config" }) { return option }
    let error =
      OptionTable.unavailable.contains(key)
      ? UsageError.unavailable("the key \"\(key)\"")
      : UsageError.unknown("key", key, among: OptionTable.general.map(\.name) + ["hosts"])
    throw UsageError("\(file): \(error)")
  }
}

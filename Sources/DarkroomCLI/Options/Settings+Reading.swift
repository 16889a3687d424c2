import Darkroom
import Foundation
import Imaging
import Transfer

extension Settings {
  /// What the configuration file, the environment and the command line say; the later wins.
  /// - Throws: `UsageError`, `StopError.missing`.
  init(_ arguments: Arguments, environment: [String: String]) throws {
    try self.init(processors: ProcessInfo.processInfo.activeProcessorCount)
    do {
      try configuration.transfer.adopt(environment: environment)
    } catch {
      throw UsageError(error.message)
    }
    let given = Set(arguments.options.map(\.name))
    let variables = try Self.variables(environment)
    let named = arguments.options.last { $0.name == "config" }?.value ?? environment["DARKROOM_CONFIG"]
    if let file = try ConfigFile(named: named, environment: environment) {
      for (name, value) in file.values {
        let option = try Self.option(inFile: name, at: file.path)
        if !given.contains(name), !variables.contains(where: { $0.option.name == name }) {
          try apply(option, value, as: "\(file.path): \"\(name)\"")
        }
      }
    }
    for (option, value) in variables where !given.contains(option.name) {
      try apply(option, value, as: option.variable)
    }
    for given in arguments.options {
      guard let option = OptionTable.all.first(where: { $0.name == given.name }) else { continue }
      if let command = arguments.command, !option.belongs(to: command) {
        let takers = option.commands ?? []
        throw UsageError(
          "--\(option.name) is for the command\(takers.count == 1 ? "" : "s") \(takers.joined(separator: ", ")), "
            + "not for \(command)")
      }
      try apply(option, option.value == nil ? "1" : given.value, as: "--" + option.name)
    }
  }

  private mutating func apply(_ option: Option, _ value: String, as name: String) throws {
    do {
      if option.value != nil, value.isEmpty { throw UsageError("must not be empty") }
      try option.apply(&self, value)
    } catch let error as UsageError {
      throw UsageError("\(name) \(error)")
    }
  }

  /// The options that the environment sets, in the order of their variables.
  private static func variables(_ environment: [String: String]) throws -> [(option: Option, value: String)] {
    // The variables that begin like this are set for and by other programs.
    let foreign = ["DARKROOM_JOB_", "DARKROOM_TEST_"]
    return try environment.sorted { $0.key < $1.key }.compactMap { variable, value in
      guard variable.hasPrefix("DARKROOM_"), !foreign.contains(where: variable.hasPrefix) else { return nil }
      guard let option = OptionTable.general.first(where: { $0.variable == variable }) else {
        let name = variable.dropFirst("DARKROOM_".count).lowercased().replacing("_", with: "-")
        throw UsageError(
          OptionTable.later.contains(name)
            ? "the environment variable \(variable) is not available in this version"
            : Suggestion.unknown(
              "environment variable", variable, prefix: "DARKROOM_", among: OptionTable.general.map(\.variable)))
      }
      return (option, value)
    }
  }

  private static func option(inFile name: String, at path: String) throws -> Option {
    if let option = OptionTable.general.first(where: { $0.name == name && name != "config" }) { return option }
    throw UsageError(
      "\(path): "
        + (OptionTable.later.contains(name)
          ? "the key \"\(name)\" is not available in this version"
          : Suggestion.unknown("key", name, among: OptionTable.general.map(\.name))))
  }

  /// The configuration, once the folders are there: the default ones are created, named ones must exist, or `--create`.
  /// - Parameter isReading: Whether the command only looks; then nothing is created, and a default outbox may be
  ///   missing.
  /// - Throws: `StopError.missing` and, for a folder that cannot be created, `StopError.outbox`.
  func resolved(isReading: Bool = false) throws -> Configuration {
    var configuration = configuration
    configuration.downloads = min(configuration.downloads, DescriptorLimit.downloads)
    configuration.inbox = try resolvedInbox(isReading: isReading)
    let isUnborn = isReading && outbox == nil && !FileManager.default.fileExists(atPath: "outbox")
    configuration.outbox =
      try isUnborn
      ? Folder.resolved(".") + "/outbox" : folder(outbox, else: "outbox", option: "outbox", isReading: isReading)
    configuration.state =
      try state.map { try folder($0, else: "", option: "state", mode: 0o700, isReading: isReading) }
      ?? configuration.outbox + "/.darkroom"
    return configuration
  }

  /// The inbox alone, for commands that need nothing else.
  func resolvedInbox(isReading: Bool = false) throws -> String {
    try folder(inbox, else: "inbox", option: "inbox", isReading: isReading)
  }

  private func folder(
    _ named: String?, else standard: String, option: String, mode: mode_t = 0o777, isReading: Bool
  ) throws -> String {
    let path = named ?? standard
    if !isReading, named == nil || create {
      do {
        try Folder.create(path, mode: mode)
      } catch {
        throw StopError.outbox("--\(option): \(error)")
      }
    }
    do {
      _ = try OpenFile(folder: path)
      return try Folder.resolved(path)
    } catch {
      let creator = isReading ? "\"darkroom run --create\"" : "--create"
      let remedy = named == nil ? "\"darkroom run\" would create it here" : creator + " would create it"
      let hint = error.code == ENOENT ? "; " + remedy : ""
      throw StopError.missing("--\(option): \(error)\(hint)")
    }
  }
}

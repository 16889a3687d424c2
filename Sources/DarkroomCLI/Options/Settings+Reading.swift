import Darkroom
import Foundation
import Imaging

extension Settings {
  /// What the environment and then the command line say; the command line wins.
  /// - Throws: `UsageError`, `StopError.missing`.
  init(_ arguments: Arguments, environment: [String: String]) throws {
    try self.init(processors: ProcessInfo.processInfo.activeProcessorCount)
    let named = Set(arguments.options.map(\.name))
    for (variable, value) in environment.sorted(by: { $0.key < $1.key }) where variable.hasPrefix("DARKROOM_") {
      // These two kinds are set for and by other programs.
      if variable.hasPrefix("DARKROOM_JOB_") || variable.hasPrefix("DARKROOM_TEST_") { continue }
      guard let option = OptionTable.all.first(where: { $0.variable == variable && $0.command == nil }) else {
        throw Self.unknown(variable)
      }
      if !named.contains(option.name) { try apply(option, value, as: variable) }
    }
    for given in arguments.options {
      guard let option = OptionTable.all.first(where: { $0.name == given.name }) else { continue }
      if let command = option.command, command != arguments.command {
        throw UsageError("--\(option.name) belongs to the command \(command)")
      }
      try apply(option, given.value, as: "--" + option.name)
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

  private static func unknown(_ variable: String) -> UsageError {
    let name = variable.dropFirst("DARKROOM_".count).lowercased().replacing("_", with: "-")
    return OptionTable.later.contains(name)
      ? UsageError("the environment variable \(variable) is not available in this version")
      : UsageError(
        NearestName.unknown("environment variable", variable, among: OptionTable.all.map(\.variable)))
  }

  /// The configuration, once the folders are there: the default ones are created, named ones must exist, or `--create`.
  /// - Throws: `StopError.missing` and, for a folder that cannot be created, `StopError.outbox`.
  func resolved() throws -> Configuration {
    var configuration = configuration
    configuration.inbox = try resolvedInbox()
    configuration.outbox = try folder(outbox, else: "outbox", option: "outbox")
    configuration.state =
      try state.map { try folder($0, else: "", option: "state") } ?? configuration.outbox + "/.darkroom"
    return configuration
  }

  /// The inbox alone, for commands that need nothing else.
  func resolvedInbox() throws -> String { try folder(inbox, else: "inbox", option: "inbox") }

  private func folder(_ named: String?, else standard: String, option: String) throws -> String {
    let path = named ?? standard
    if named == nil || create {
      do {
        try Folder.create(path)
      } catch {
        throw StopError.outbox("--\(option): \(error)")
      }
    }
    do {
      _ = try OpenFile(folder: path)
      return try Folder.resolved(path)
    } catch {
      let hint = error.code == ENOENT ? "; --create would create it" : ""
      throw StopError.missing("--\(option): \(error)\(hint)")
    }
  }
}

import System
import Darkroom
import Foundation

extension Settings {
  /// The configuration, with its folders: default ones are created, named ones must exist unless `--create` is given.
  /// - Parameter isReading: Whether the command only reads; then nothing is created, and a default outbox may be
  ///   missing.
  /// - Throws: `StopError.missing` and, for a folder that cannot be created, `StopError.outbox`; `UsageError` when inbox
  ///   and outbox cannot be used together, or a file of a rule for hosts cannot be read.
  func resolved(isReading: Bool = false) throws -> Configuration {
    var configuration = configuration
    configuration.inbox = try resolvedInbox(isReading: isReading)
    if isReading, !outbox.isNamed, !FileManager.default.fileExists(atPath: outbox.path) {
      configuration.outbox = try Folder.resolved(".") + "/" + outbox.path
    } else {
      configuration.outbox = try resolve(outbox, option: "outbox", isReading: isReading)
    }
    configuration.state =
      try state.map {
        try resolve(FolderSetting(path: $0, isNamed: true), option: "state", mode: 0o700, isReading: isReading)
      } ?? configuration.defaultState
    if !isReading, let conflict = configuration.folderConflict { throw UsageError(conflict) }
    // Who only looks need not be able to read secrets.
    if !isReading {
      let secrets = HostSecrets(file: configPath ?? "", environment: environment)
      configuration.hosts = try secrets.read(for: configuration.hosts)
    }
    return configuration
  }

  /// The inbox alone, for commands that need nothing else.
  func resolvedInbox(isReading: Bool = false) throws -> String {
    try resolve(inbox, option: "inbox", isReading: isReading)
  }

  private func resolve(
    _ folder: FolderSetting, option: String, mode: mode_t = 0o777, isReading: Bool
  ) throws -> String {
    if !isReading, !folder.isNamed || create {
      do {
        try Folder.create(folder.path, mode: mode)
      } catch  where error.cause.isOfMachine && error.cause != .permission {
        throw error
      } catch {
        throw StopError.outbox("--\(option): \(error)")
      }
    }
    do {
      _ = try OpenFile(folder: folder.path)
      return try Folder.resolved(folder.path)
    } catch  where error.cause.isOfMachine && error.cause != .permission {
      // That says nothing of the folder.
      throw error
    } catch {
      let creator = isReading ? "\"darkroom run --create\"" : "--create"
      let remedy = folder.isNamed ? creator + " would create it" : "\"darkroom run\" would create it here"
      let hint = error.code == ENOENT ? "; " + remedy : ""
      throw StopError.missing("--\(option): \(error)\(hint)")
    }
  }
}

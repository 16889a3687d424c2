import Darkroom
import Foundation
import Inbox
import Model
import System

extension Settings {
  /// The command line options that give commands such as `retry` the same folders, as words.
  var folderOptions: [String] {
    let given = [("inbox", inbox.path), ("outbox", outbox.path), ("config", config)] as [(String, String?)]
    return given.flatMap { name, path in
      path.map { origins[name] == "--" + name ? ["--" + name, $0] : [] } ?? []
    }
  }

  /// How a command uses the folders.
  enum FolderUse {
    /// Processes jobs in them. Creates missing default folders, once it is clear that no other instance has the rest. Needs all that
    /// the options name.
    case working
    /// The same without jobs: needs nothing but the folders.
    case maintaining
    /// Adds or removes files in the inbox. Creates nothing, unless `--create` is given.
    case dropping
    /// Writes into the outbox alone. The inbox may be missing. Creates nothing, unless `--create` is given.
    case merging
    /// Only reads. Creates nothing; a default outbox may be missing, as may a default inbox while jobs are done in shards, and what
    /// this user may not read is left out.
    case reading

    /// Whether no other instance may have the folders.
    fileprivate var isOwning: Bool { self == .working || self == .maintaining }
  }

  /// The configuration with all its folders: missing default folders will be created, named ones must exist unless `--create`
  /// is given.
  /// - Throws: `StopError.missing` and, for a folder that cannot be created, `StopError.outbox`; `UsageError` when inbox
  ///   and outbox cannot be used together, or a file of a rule for hosts cannot be read.
  /// - Parameter needsFileRoot: Whether to check that the folder of `--file-root` is there.
  func resolved(for use: FolderUse = .working, needsFileRoot: Bool = true) throws -> Configuration {
    var configuration = configuration
    configuration.inbox = try resolvedInbox(for: use)
    configuration.outbox = try resolvedOutbox(for: use)
    configuration.state = try resolvedState(configuration, for: use)
    if use.isOwning {
      let folders = [configuration.inbox, configuration.outbox] + (state == nil ? [] : [configuration.state])
      configuration.newFolders = Set(folders.filter(Self.isMissing))
    }
    if use == .working {
      configuration.metrics = try configuration.metrics.map { try metricsFile($0, configuration) }
      configuration.exec = try configuration.exec.map(program)
      if needsFileRoot { try checkFileRoot() }
    }
    // Other commands may need only one of the folders, and no secrets.
    if use.isOwning, let conflict = configuration.folderConflict { throw UsageError(conflict) }
    if use == .working {
      let secrets = HostSecrets(file: configPath ?? "", environment: environment)
      configuration.hosts = try secrets.read(for: configuration.hosts)
    }
    return configuration
  }

  /// Checks that the folder of `--file-root` is there.
  /// - Throws: `StopError.missing`.
  func checkFileRoot() throws {
    guard let root = configuration.transfer.fileRoot else { return }
    do throws(SystemError) {
      _ = try OpenFile(folder: root)
    } catch {
      throw StopError.missing("\(origins["file-root"] ?? "--file-root"): \(error)")
    }
  }

  /// - Parameter configuration: With inbox and outbox resolved.
  /// - Throws: `UsageError` when the state folder cannot be used with them.
  private func resolvedState(_ configuration: Configuration, for use: FolderUse) throws -> String {
    guard let state else { return configuration.defaultState }
    // Before anything is created in the outbox.
    if use != .reading, let path = try? Folder.resolvedWhenCreated(state),
      let conflict = configuration.conflict(withState: path)
    {
      throw UsageError(conflict)
    }
    return try resolve(FolderSetting(path: state, isNamed: true), option: "state", mode: 0o700, for: use)
  }

  /// The configuration with the folders as they are given, which may be missing.
  var withGivenFolders: Configuration {
    var configuration = configuration
    (configuration.inbox, configuration.outbox) = (inbox.path, outbox.path)
    configuration.state = state ?? configuration.defaultState
    return configuration
  }

  /// The inbox alone, for commands that need nothing else.
  func resolvedInbox(for use: FolderUse) throws -> String {
    if use == .merging || use == .reading && !inbox.isNamed && Self.isMissing(inbox.path) && isDoneInShards {
      return (try? Folder.resolvedWhenCreated(inbox.path)) ?? inbox.path
    }
    return try resolve(inbox, option: "inbox", for: use)
  }

  /// Whether the outbox has jobs that are done in shards, which need no inbox.
  private var isDoneInShards: Bool { !SharedOutbox(outbox.path).jobs.isEmpty }

  /// The outbox alone.
  func resolvedOutbox(for use: FolderUse) throws -> String {
    guard use.isOwning || outbox.isNamed || FileManager.default.fileExists(atPath: outbox.path) else {
      return try Folder.resolved(".") + "/" + outbox.path
    }
    return try resolve(outbox, option: "outbox", for: use)
  }

  private func resolve(
    _ folder: FolderSetting, option: String, mode: mode_t = 0o777, for use: FolderUse
  ) throws -> String {
    let name = origins[option] ?? "--" + option
    if use.isOwning && !folder.isNamed || use != .reading && create {
      do {
        if use.isOwning, Self.isMissing(folder.path) { return try Folder.resolvedWhenCreated(folder.path) }
        try Folder.create(folder.path, mode: mode)
      } catch  where error.cause.isOfMachine && error.cause != .permission {
        throw error
      } catch {
        throw StopError.outbox("\(name): \(error)")
      }
    }
    do {
      _ = try OpenFile(folder: folder.path)
      return try Folder.resolved(folder.path)
    } catch  where error.cause == .permission && use == .reading {
      return (try? Folder.resolved(folder.path)) ?? folder.path
    } catch  where error.cause.isOfMachine && error.cause != .permission {
      // The folder itself may be fine.
      throw error
    } catch {
      guard error.code == ENOENT else { throw StopError.missing("\(name): \(error.explained)") }
      throw StopError.missing("\(name): \(error); \(remedy(for: folder, option: option, use))")
    }
  }

  /// The path of the file for Prometheus, with its folder resolved. The folder may be missing: the file is written once it is
  /// there.
  /// - Throws: `StopError.missing` when the folder is none, or closed to this user; `UsageError` when something else than an earlier such file would be replaced,
  ///   or the file is in the inbox, the outbox or the state folder; `SystemError`.
  private func metricsFile(_ path: String, _ configuration: Configuration) throws -> String {
    let name = origins["metrics"] ?? "--metrics"
    let file: String
    do {
      let folder = try Folder.resolvedWhenCreated(Folder.parent(of: path))
      file = (folder == "/" ? "/" : folder + "/") + Folder.name(of: path)
      // It may be on a volume that is not mounted.
      do { _ = try OpenFolder(searching: folder) } catch  where error.code == ENOENT {}
    } catch  where error.cause.isOfMachine && error.cause != .permission {
      throw error
    } catch {
      throw StopError.missing("\(name): \(error)")
    }
    for (folder, kind) in [
      (configuration.inbox, "inbox"), (configuration.outbox, "outbox"), (configuration.state, "state folder"),
    ] where Folder.path(file, in: folder) != nil {
      throw UsageError("\(name) must not lie in the \(kind): \(file)")
    }
    if file.ends(with: "/") || (try? FileStatus(of: file)).map({ $0.kind != .file }) == true
      || !MetricsFile.mayReplace(file)
    {
      throw UsageError("\(name) must name a new file, or one that \(name) has written; \(path) is something else")
    }
    return file
  }

  /// The full path of the program of `--exec`.
  /// - Throws: `StopError.missing` unless it is a file that this user may execute.
  private func program(_ path: String) throws -> String {
    let name = origins["exec"] ?? "--exec"
    let file = path.begins(with: "/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    do {
      guard try FileStatus(of: Folder.resolved(file)).kind == .file else {
        throw StopError.missing("\(name): \(path) is not a program")
      }
    } catch let error as SystemError {
      throw StopError.missing("\(name): \(path): \(systemMessage(error.code))")
    }
    guard access(file, X_OK) == 0 else {
      throw StopError.missing("\(name): \(path) is not executable; \"chmod +x\" makes it so")
    }
    return file
  }

  /// Whether a path is free, and a folder could be created there.
  private static func isMissing(_ path: String) -> Bool {
    do {
      _ = try FileStatus(of: path)
      return false
    } catch {
      return error.code == ENOENT
    }
  }

  /// Advice for a missing folder.
  private func remedy(for folder: FolderSetting, option: String, _ use: FolderUse) -> String {
    if folder.isNamed {
      let question = option == "outbox" ? "is it mounted? " : ""
      return question
        + (use.isOwning ? "--create would create it" : "\"darkroom run\" and \"watch\" create it with --create")
    }
    return "go to the folder where darkroom works, or name its \(option) with --\(option) or "
      + "DARKROOM_\(option.uppercased()); \"darkroom run\" would create one here"
  }
}

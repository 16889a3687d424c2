import Glibc
import Inbox
import JSON
import Manifests
import Model
import System
import Transfer

/// Adds manifests to an inbox atomically, and never replaces one.
package struct ManifestDrop {
  /// A manifest that was added to the inbox.
  package struct Dropped: Sendable, Equatable {
    package let job: String
    package let file: String

    /// Other manifests of the same job in the inbox, which are processed before or after it.
    package var others: [String] = []

    /// Whether an instance of another user may be unable to read it.
    package var isPrivate = false
  }

  /// The permissions of a manifest that is added to the inbox.
  enum Access {
    /// Those of any new file: 0666 without the bits of the umask.
    case usual
    /// Only this user may read it.
    case own
    /// Those of an original file.
    /// - Parameter isReturned: Whether it also gets the original's owner, which requires root.
    case like(FileStatus, isReturned: Bool)
  }

  private let inbox: String

  package init(inbox: String) { self.inbox = inbox }

  /// Copies a manifest into the inbox.
  /// - Parameter name: The job's name. Default: nil, the file's name. In both, characters that other systems cannot
  ///   store are replaced.
  /// - Throws: `StopError.missing` when it cannot be read or its name is not that of a manifest; `StopError.taken`;
  ///   `SystemError`.
  package func add(_ path: String, job name: String?) throws -> Dropped {
    let file = Folder.name(of: path)
    guard let manifest = ManifestFileName(file) else { throw StopError.noManifest(path) }
    let source = try Self.checked(path) { () throws(SystemError) in try OpenFile(reading: path) }
    let job = name ?? manifest.visibleStem
    return try drop(as: job, manifest.suffix, .like(source.status(), isReturned: false)) { copy in
      try source.eachChunk { try copy.write($0) }
    }
  }

  /// Adds a manifest from standard input to the inbox.
  /// - Throws: `StopError.taken`, `SystemError`.
  package func add(_ input: StandardInputManifest, job name: String?) throws -> Dropped {
    let source = try OpenFile(reading: input.path)
    let job = name ?? StandardInputManifest.job + "-" + RunID.make()
    let access = input.original.map { Access.like($0, isReturned: false) } ?? .usual
    return try drop(as: job, input.suffix, access) { copy in try source.eachChunk { try copy.write($0) } }
  }

  /// Adds a manifest of URLs to the inbox.
  /// - Throws: `StopError.taken`, `SystemError`.
  package func add(urls: [String], job name: String?) throws -> Dropped {
    let isSecret = urls.contains { (try? SourceLocation(parsing: $0).redacted) != $0 }
    return try drop(as: name ?? "urls-" + RunID.make(), "jsonl", isSecret ? .own : .usual) { file in
      for url in urls { try file.write(JSONValue.string(url).text + "\n") }
    }
  }

  /// Adds the manifest of an ended job to the inbox again.
  /// - Parameter outbox: The outbox with the job's folder.
  /// - Throws: `StopError.missing` when there is none; `StopError.taken` when the inbox has a manifest of the job;
  ///   `SystemError`.
  package func retry(_ job: String, outbox: String) throws -> String {
    let job = PortableName.job(job)
    let folder = OutboxFolder(path: outbox).job(job)
    let scan = try Inbox(path: inbox, extraLock: nil).scan()
    if let manifest = scan.manifests.first(where: { $0.job.isIdentical(to: job) }) {
      throw StopError.taken("\(manifest.file) is in the inbox already; wait until it is done")
    }
    let names: [FileName]
    do {
      names = try folder.open().names()
    } catch {
      guard [ENOENT, ENOTDIR, ELOOP].contains(error.code) else { throw error }
      if let difference = KnownOutboxes.difference(inbox: inbox, outbox: OutboxFolder(path: outbox)) {
        throw StopError.missing(difference.question(of: outbox))
      }
      throw StopError.missing("there is no job \"\(job)\" in the outbox")
    }
    let manifests = names.compactMap(\.text).filter(JobFolder.isManifest)
    guard let name = manifests.first, let suffix = ManifestFileName(name)?.suffix else {
      let why: String
      if let shards = SharedOutbox(Folder.parent(of: folder.path)).shards(of: job) {
        why =
          "the job was done in the shards of \(shards.path); divide its manifest again, into another folder, and do that"
      } else if names.contains(FileName("report.json")) {
        why = "it was taken away; drop it into the inbox again"
      } else {
        why = "job \"\(job)\" has not ended"
      }
      throw StopError.missing("\(folder.path) holds no manifest: \(why)")
    }
    guard manifests.count == 1 else {
      throw StopError.missing("\(folder.path) holds several manifests: \(manifests.sorted().joined(separator: ", "))")
    }
    let source = try Self.checked(folder.file(name)) { () throws(SystemError) in try folder.open(file: name) }
    _ = try drop(as: job, suffix, .like(source.status(), isReturned: true)) { copy in
      try source.eachChunk { try copy.write($0) }
    }
    return job
  }

  /// Opens a manifest.
  /// - Throws: `StopError.missing`.
  private static func checked(_ path: String, _ open: () throws(SystemError) -> OpenFile) throws -> OpenFile {
    do {
      let file = try open()
      guard try file.status().kind == .file else { throw StopError.missing(path, "it is no file") }
      return file
    } catch let error as SystemError {
      throw StopError.missing(error)
    }
  }

  private func drop(
    as wanted: String, _ suffix: String, _ access: Access, _ write: (OpenFile) throws -> Void
  ) throws -> Dropped {
    let wanted = wanted + "." + suffix
    guard case .manifest(let job) = InboxFile(named: FileName(wanted)), let suffix = ManifestFileName(wanted)?.suffix
    else {
      throw StopError.missing("\(wanted) would be passed over in the inbox; give it another name")
    }
    let name = job + "." + suffix
    let folder = try OpenFolder(inbox)
    let written = ".darkroom-add-" + RunID.make()
    var isPrivate = false
    do {
      // An unnamed file disappears with the process in any case.
      let nameless = try? folder.createNameless(mode: access.creationMode)
      let file = try nameless ?? folder.create(file: written, mode: access.creationMode)
      try write(file)
      let isRestricted = try access.apply(to: file, in: folder, suffix)
      isPrivate = try Self.isPrivate(file.status(), in: folder, isRestricted: isRestricted)
      try file.sync()
      if nameless != nil { try give(file, the: written, in: folder, access, suffix) }
      // Instances read a file as soon as it is renamed.
      guard try folder.renameWithoutReplacing(written, to: folder, as: name) else {
        throw StopError.taken("\(name) is in the inbox already; wait until it is done, or add it as another --name")
      }
    } catch {
      try? folder.remove(written)
      throw error
    }
    try folder.sync()
    return Dropped(
      job: job, file: name, others: (try? others(of: job, than: name, in: folder)) ?? [], isPrivate: isPrivate)
  }

  /// Whether an instance of the inbox's owner could not read a file.
  /// - Parameter isRestricted: Whether read permission for the inbox's group was removed. The instance may then be run
  ///   by a member of that group, and the inbox be owned by root.
  private static func isPrivate(
    _ file: FileStatus, in folder: OpenFolder, isRestricted: Bool
  ) throws(SystemError) -> Bool {
    let inbox = try folder.status()
    return inbox.owner != file.owner && (inbox.owner != 0 || isRestricted) && file.mode & 0o004 == 0
      && !(file.mode & 0o040 != 0 && file.group == inbox.group)
  }

  private func others(of job: String, than name: String, in folder: OpenFolder) throws(SystemError) -> [String] {
    try folder.names().compactMap { other in
      guard case .manifest(let its) = InboxFile(named: other), its.isIdentical(to: job), other != FileName(name) else {
        return nil
      }
      return other.text
    }.sorted()
  }

  /// Gives a file its name, or copies it when `/proc` is missing.
  private func give(
    _ file: OpenFile, the name: String, in folder: OpenFolder, _ access: Access, _ suffix: String
  ) throws(SystemError) {
    do {
      try folder.name(file, as: name)
    } catch  where error.code == ENOENT {
      let copy = try folder.create(file: name, mode: access.creationMode)
      try file.copy(to: copy)
      _ = try access.apply(to: copy, in: folder, suffix)
      try copy.sync()
    }
  }
}

extension ManifestDrop.Access {
  /// The mode of a new file, without the bits of the umask.
  fileprivate var creationMode: mode_t {
    if case .usual = self { 0o666 } else { 0o600 }
  }

  /// Sets the mode and group of a written file, if the file system supports them. Nobody gets permission to read
  /// secrets who may not read the original.
  /// - Parameter suffix: The extension of the file's name, by which gzip is recognized.
  /// - Returns: Whether the inbox's group may not read it, although the original's group may read the original.
  /// - Throws: `SystemError`, except when the file system refuses. The file's status then shows who may read it.
  fileprivate func apply(to file: OpenFile, in folder: OpenFolder, _ suffix: String) throws(SystemError) -> Bool {
    switch self {
    case .usual: return false
    case .own:
      // Some file systems give new files a mode of their own.
      if try file.status().isOpenToOthers { try file.setAccess(mode: 0o600) }
      return false
    case .like(let original, let isReturned):
      do throws(SystemError) {
        if isReturned, file.give(to: original.owner, group: original.group) {
          try file.setAccess(mode: original.mode)
          return false
        }
        return try apply(original, to: file, in: folder, suffix)
      } catch  where [EPERM, ENOTSUP, ENOSYS].contains(error.code) {
        return false
      }
    }
  }

  private func apply(
    _ original: FileStatus, to file: OpenFile, in folder: OpenFolder, _ suffix: String
  ) throws(SystemError) -> Bool {
    // New files of such a folder get its group, as its owner has configured.
    let inbox = try folder.status()
    guard inbox.mode & Int(S_ISGID) != 0 else {
      try file.setAccess(mode: original.mode, group: original.group)
      return false
    }
    // Permissions of others are no secret.
    let isOfGroupAlone = original.mode >> 3 & 0o7 & ~original.mode != 0 && original.group != inbox.group
    let isRestricted =
      isOfGroupAlone
      && ManifestFile(
        path: "/proc/self/fd/\(file.descriptor)", isCompressed: ManifestFile.isCompressed(suffix)
      ).mayHoldSecrets
    try file.setAccess(mode: isRestricted ? 0o600 : original.mode)
    return isRestricted
  }
}

import Glibc
import JSON
import Manifests
import System
import Transfer

/// Puts manifests into an inbox, safely: nobody ever sees half of one, and none is replaced.
package struct ManifestDrop {
  private let inbox: String

  package init(inbox: String) { self.inbox = inbox }

  /// Copies a manifest into the inbox.
  /// - Parameter name: The job's, if not the file's; what other systems cannot store is replaced in either.
  /// - Returns: The job's name.
  /// - Throws: `StopError.missing` when it cannot be read or its name is no manifest's; `StopError.taken`; `SystemError`.
  package func add(_ path: String, job name: String?) throws -> String {
    let file = Folder.name(of: path)
    guard let manifest = ManifestFileName(file) else {
      throw StopError.missing(
        "\(SourceLocation.redacted(path)): \(ManifestFormats.refusal)\(SourceLocation.webAddressHint(for: path))")
    }
    let source = try Self.checked(path) { () throws(SystemError) in try OpenFile(reading: path) }
    let job = name ?? manifest.visibleStem
    return try drop(as: job + "." + manifest.suffix) { copy in try source.eachChunk { try copy.write($0) } }
  }

  /// Puts a manifest of URLs into the inbox.
  /// - Returns: The job's name.
  /// - Throws: `StopError.taken`, `SystemError`.
  package func add(urls: [String], job name: String?) throws -> String {
    return try drop(as: (name ?? "urls-" + RunID.make()) + ".jsonl") { file in
      for url in urls { try file.write(JSONValue.string(url).text + "\n") }
    }
  }

  /// Puts the manifest of a job that has ended into the inbox again.
  /// - Parameter outbox: Where the job's folder lies.
  /// - Throws: `StopError.missing` when there is none; `StopError.taken` when the job is to be done or at work already;
  ///   `SystemError`.
  package func retry(_ job: String, outbox: String) throws {
    let job = PortableName.replacing(job)
    let folder = OutboxFolder(path: outbox).job(job)
    let scan = try Inbox(path: inbox, extraLock: nil).scan()
    if let manifest = scan.manifests.first(where: { $0.job == job }) {
      throw StopError.taken("\(manifest.file) is in the inbox already; wait until it is done")
    }
    let names: [FileName]
    do {
      names = try folder.open().names()
    } catch {
      guard [ENOENT, ENOTDIR, ELOOP].contains(error.code) else { throw error }
      throw StopError.missing("there is no job \"\(job)\" in the outbox")
    }
    let manifests = names.compactMap(\.text).filter(JobFolder.isManifest)
    guard let name = manifests.first, let suffix = ManifestFileName(name)?.suffix else {
      throw StopError.missing("\(folder.path) holds no manifest: job \"\(job)\" has not ended")
    }
    guard manifests.count == 1 else {
      throw StopError.missing("\(folder.path) holds several manifests: \(manifests.sorted().joined(separator: ", "))")
    }
    let source = try Self.checked(folder.file(name)) { () throws(SystemError) in try folder.open(file: name) }
    _ = try drop(as: job + "." + suffix) { copy in try source.eachChunk { try copy.write($0) } }
  }

  /// Opens a manifest.
  /// - Throws: `StopError.missing`.
  private static func checked(_ path: String, _ open: () throws(SystemError) -> OpenFile) throws -> OpenFile {
    do {
      let file = try open()
      guard try file.status().kind == .file else { throw StopError.missing("\(path): it is no file") }
      return file
    } catch let error as SystemError {
      throw StopError.missing(error.description)
    }
  }

  /// - Returns: The job's name, which is the file's, too.
  private func drop(as name: String, _ write: (OpenFile) throws -> Void) throws -> String {
    guard case .manifest(let job) = InboxFile(named: FileName(name)), let suffix = ManifestFileName(name)?.suffix else {
      throw StopError.missing("\(name) would be passed over in the inbox; give it another name")
    }
    let name = job + "." + suffix
    let folder = try OpenFolder(inbox)
    let written = ".darkroom-add-" + RunID.make()
    do {
      // A file without a name goes with the process, whatever ends it.
      if let file = try? folder.createNameless(mode: 0o600) {
        try write(file)
        try file.sync()
        try give(file, the: written, in: folder)
      } else {
        let file = try folder.create(file: written, mode: 0o600)
        try write(file)
        try file.sync()
      }
      // Instances take a file that is renamed in at once.
      guard try folder.renameWithoutReplacing(written, to: folder, as: name) else {
        throw StopError.taken("\(name) is in the inbox already; wait until it is done, or give another --name")
      }
    } catch {
      try? folder.remove(written)
      throw error
    }
    try folder.sync()
    return job
  }

  /// Gives a file its name; without `/proc` to a copy of it.
  private func give(_ file: OpenFile, the name: String, in folder: OpenFolder) throws(SystemError) {
    do {
      try folder.name(file, as: name)
    } catch  where error.code == ENOENT {
      let copy = try folder.create(file: name, mode: 0o600)
      try file.copy(to: copy)
      try copy.sync()
    }
  }
}

import Glibc
import Model
import System

/// What an outbox and folders of shards know of each other: which jobs are done in shards, and with which outbox.
///
/// `OUTBOX/.darkroom/shards` has a file for each job, which names its folder of shards, and the outbox's identity. A folder of shards
/// has a copy of the identity, so that no two outboxes are taken for one. When the reports of complete shards are merged, the job's
/// file moves to `.merged`, since `status` looks at all shards of the others.
package struct SharedOutbox {
  private let path: String
  private static let folder = "shards"
  private static let mergedFolder = ".merged"
  private static let identityFile = ".identity"

  /// The file in a folder of shards with the identity of its outbox.
  private static let markFile = ".outbox"

  /// - Parameter path: The path of the outbox that is shared.
  package init(_ path: String) { self.path = path }

  /// Checks that a folder of shards was not begun with another outbox, and binds it to this one.
  /// - Throws: `StopError.outbox`, `SystemError`.
  func check(_ shards: ShardFolder) throws {
    let hidden = try OutboxFolder(path: path).openHidden()
    let own = try Self.text(Self.identityFile, in: hidden.create(Self.folder).folder, orNew: RunID.make() + "\n")
    guard try Self.text(Self.markFile, in: OpenFolder(shards.path), orNew: own) == own else {
      throw StopError.outbox("\(shards.path) was begun with another outbox than \(path): its pictures are there")
    }
  }

  /// The text of a file. One that is missing gets a new text, in one step: of several processes one succeeds.
  private static func text(_ name: String, in folder: OpenFolder, orNew new: String) throws(SystemError) -> String {
    if try folder.status(of: name) == nil {
      let temporary = try write(new, in: folder)
      if try !folder.renameWithoutReplacing(temporary, to: folder, as: name) { try folder.remove(temporary) }
      try folder.sync()
    }
    return String(decoding: try folder.open(reading: name).readStart(4096), as: UTF8.self)
  }

  /// Writes a file with a name that no other process uses.
  private static func write(_ text: String, in folder: OpenFolder) throws(SystemError) -> String {
    let name = ".new-" + RunID.make()
    let file = try folder.create(file: name, mode: 0o644)
    try file.write(text)
    try file.sync()
    return name
  }

  /// Adds a job, so that `cancel` finds its shards.
  /// - Throws: `StopError.outbox` when the job is done in other shards, which are not complete; `SystemError`.
  func add(_ shards: ShardFolder) throws {
    if let other = self.shards(of: shards.job) {
      if other.path.isIdentical(to: shards.path), self.shards(of: shards.job, in: Self.folder) != nil { return }
      guard other.path.isIdentical(to: shards.path) || other.isComplete || other.isCancelled else {
        throw StopError.outbox(
          "job \(shards.job) is done in the shards of \(other.path), which are not complete: go on with them, or cancel the job"
        )
      }
    }
    let hidden = try OutboxFolder(path: path).openHidden()
    let folder = try hidden.create(Self.folder).folder
    let new = try Self.write(shards.path + "\n", in: folder)
    try folder.rename(new, to: folder, as: shards.job)
  }

  /// Records that the reports of a job's complete shards were merged.
  func merged(_ shards: ShardFolder) {
    guard self.shards(of: shards.job, in: Self.folder)?.path.isIdentical(to: shards.path) == true,
      let folder = try? OpenFolder(path).folder(OutboxFolder.hidden(Self.folder)),
      let merged = try? folder.create(Self.mergedFolder).folder
    else { return }
    try? folder.rename(shards.job, to: merged, as: shards.job)
  }

  /// The shards of a job; nil when it is not done in shards, or they are gone.
  func shards(of job: String) -> ShardFolder? {
    shards(of: job, in: Self.folder) ?? shards(of: job, in: Self.folder + "/" + Self.mergedFolder)
  }

  private func shards(of job: String, in folder: String) -> ShardFolder? {
    guard let file = try? OpenFolder(path).open(reading: OutboxFolder.hidden(folder + "/" + job)),
      let start = try? file.readStart(4096), start.last == 0x0a,
      let shards = try? ShardFolder(String(decoding: start.dropLast(), as: UTF8.self)), shards.job.isIdentical(to: job)
    else { return nil }
    return shards
  }

  /// The jobs with shards that are not complete, in the order of the names.
  package var jobs: [String] { open.map(\.job) }

  /// The shards that are not complete, by their jobs, in the order of the names.
  var open: [ShardFolder] {
    let folder = try? OpenFolder(path).folder(OutboxFolder.hidden(Self.folder))
    let names = ((try? folder?.names()) ?? []).compactMap(\.text).filter { !$0.begins(with: ".") }.sorted()
    return names.compactMap { shards(of: $0, in: Self.folder) }.filter { !$0.isComplete }
  }
}

import JobIndex
import Ledger
import Model
import System

/// Removes results that a job's manifest no longer names from the outbox and the ledger (`--prune`).
///
/// A file is removed only if it is unchanged since this program delivered it. Adopted files and files of unknown origin
/// stay. Runs before the report is written, since a consumer that waits for the report may copy the folder.
package struct Pruning: @unchecked Sendable {  // the index has one owner at a time
  package let run: RunContext
  package let index: JobIndex
  package let ledger: Ledger

  package init(run: RunContext, index: JobIndex, ledger: Ledger) {
    self.run = run
    self.index = index
    self.ledger = ledger
  }

  /// Prunes the results, and the subfolders that become empty. Must be called when all rows of the run are durable and none
  /// failed. An interrupted call is completed by the next, except that empty subfolders may stay.
  /// - Parameter count: Receives the number of removed files, also when an error ends the call.
  /// - Throws: `SystemError`, `SQLiteError`, `LedgerError`.
  package func prune(_ count: inout Int) throws {
    try keepDelivered()
    try ledger.eachOutputPage(job: run.job) { page in
      var folders: Set<String> = []
      let removed = try page.filter { try !index.keeps($0.target) && remove($0, &folders) }
      count += removed.count
      for folder in folders { try run.folder.syncIfThere(folder) }
      for folder in folders { removeIfEmpty(folder) }
      try ledger.commit(removed.map { .forget(.output(job: run.job, target: $0.target, identity: $0.identity)) })
    }
  }

  /// Removes an empty folder beneath that of its kind, such as `images`, and those around it that become empty.
  private func removeIfEmpty(_ path: String) {
    var path = path
    while path.has("/") {
      let parent = Folder.parent(of: path)
      guard let folder = try? run.folder.open(parent) else { return }
      folder.removeIfEmpty(Folder.name(of: path))
      path = parent
    }
  }

  /// Whether an earlier run has delivered a file that may be removed, and that is none of an entry of this one. What an entry
  /// without a result has of an earlier run is one of its files.
  /// - Throws: `SystemError`, `SQLiteError`, `LedgerError`.
  package func hasObsolete() throws -> Bool {
    try keepDelivered()
    var hasFound = false
    try ledger.eachOutputPage(job: run.job) { page in
      guard !hasFound else { return }
      hasFound = try page.contains { output in
        try !index.keeps(output.target) && !index.keeps(output.target.withoutExtension) && removable(output) != nil
      }
    }
    return hasFound
  }

  /// Marks the files of the run's rows as kept and, without extension, those that rows without a result may have.
  private func keepDelivered() throws {
    try index.fill { try index.prepareKept() }
    try ledger.eachEndedPage(run: run.runID) { page in
      let files = try page.flatMap { ended in
        let files = try ReportRow(parsing: ended.row).keptFiles
        return try files.isEmpty ? index.entry(at: ended.position)?.possibleFiles ?? [] : files
      }
      try index.fill { for file in files { try index.keep(file) } }
    }
  }

  /// Removes a file if it may be removed.
  /// - Parameter folders: Receives the subfolder of a removed file.
  /// - Returns: Whether it was removed. A file that cannot be removed now is left to a later run.
  private func remove(_ output: LedgerOutput, _ folders: inout Set<String>) -> Bool {
    guard let folder = removable(output), (try? folder.remove(Folder.name(of: output.target))) != nil else {
      return false
    }
    folders.insert(Folder.parent(of: output.target))
    return true
  }

  /// The folder of a file that is what was delivered; nil for any other file.
  private func removable(_ output: LedgerOutput) -> OpenFolder? {
    guard output.wasMade, let folder = try? run.folder.open(Folder.parent(of: output.target)) else { return nil }
    let name = Folder.name(of: output.target)
    guard let found = try? folder.status(of: name), found.kind == .file,
      found.identity.text == output.identity
        || (try? run.folder.holds(output.target, bytes: output.bytes, sha256: output.sha256)) == true,
      (try? folder.status(of: name))??.identity == found.identity
    else { return nil }
    return folder
  }
}

extension Entry {
  /// Its files without their extensions.
  fileprivate var possibleFiles: [String] {
    Artifact.Kind.allCases.map { $0.folder + "/" + ($0 == .original ? lineName : name) }
  }
}

extension String {
  fileprivate var withoutExtension: String { cut(atLast: ".")?.before ?? self }
}

extension ReportRow {
  /// The result, its derived files, and the file of its source in `originals`, whether or not it exists. If the
  /// source's format is unknown, that file is without an extension.
  fileprivate var keptFiles: [String] {
    guard let output else { return [] }
    return [output.file, source?.file ?? originalName(for: output)] + derived.values
  }

  private func originalName(for output: Output) -> String {
    let suffix = source?.picture?.format.fileExtension
    var name = (Folder.path(output.file, in: Artifact.Kind.result.folder) ?? output.file).withoutExtension
    if let variant, name.ends(with: "." + variant) { name = name.dropping(bytesOfSuffix: "." + variant) }
    return suffix.map { JobFolder.path(of: .original, name, extension: $0) }
      ?? Artifact.Kind.original.folder + "/" + name
  }
}

extension LedgerOutput {
  /// Whether this program created the file, and did not adopt it.
  fileprivate var wasMade: Bool {
    guard let origin else { return false }
    return Artifact.Kind(rawValue: origin) != nil || Provenance(text: origin)?.isAdopted == false
  }
}

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

  /// Prunes the results. Must be called when all rows of the run are durable and none failed. An interrupted call is
  /// completed by the next.
  /// - Throws: `SystemError`, `SQLiteError`, `LedgerError`.
  package func prune() throws {
    try index.fill { try index.prepareKept() }
    try ledger.eachEndedPage(run: run.runID) { page in
      let rows = try page.map { try ReportRow(parsing: $0.row) }
      try index.fill { for file in rows.flatMap(\.keptFiles) { try index.keep(file) } }
    }
    try ledger.eachOutputPage(job: run.job) { page in
      var folders: Set<String> = []
      let removed = try page.filter { try !index.keeps($0.target) && remove($0, &folders) }
      for folder in folders { try run.folder.syncIfThere(folder) }
      try ledger.commit(removed.map { .forget(.output(job: run.job, target: $0.target, identity: $0.identity)) })
    }
  }

  /// Removes a file if it may be removed.
  /// - Parameter folders: Receives the subfolder of a removed file.
  /// - Returns: Whether it was removed. A file that cannot be removed now is left to a later run.
  private func remove(_ output: LedgerOutput, _ folders: inout Set<String>) -> Bool {
    guard output.wasMade, let folder = try? run.folder.open(Folder.parent(of: output.target)) else { return false }
    let name = Folder.name(of: output.target)
    guard let found = try? folder.status(of: name), found.kind == .file,
      found.identity.text == output.identity
        || (try? run.folder.holds(output.target, bytes: output.bytes, sha256: output.sha256)) == true,
      (try? folder.status(of: name))??.identity == found.identity, (try? folder.remove(name)) != nil
    else { return false }
    folders.insert(Folder.parent(of: output.target))
    return true
  }
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
    let image = output.file.drop { $0 != "/" }.dropFirst()
    var name = image.lastIndex(of: ".").map { image[..<$0] } ?? image
    if let variant, name.hasSuffix("." + variant) { name = name.dropLast(variant.count + 1) }
    return suffix.map { JobFolder.path(of: .original, String(name), extension: $0) }
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

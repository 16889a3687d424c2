import Ledger
import Model
import System

/// The ledger's entry, the row and the files that are delivered for an entry.
struct EntryDelivery: Sendable {
  /// The entry without the files of `artifacts`.
  private(set) var entry: LedgerEntry
  private(set) var row: ReportRow
  private(set) var artifacts: [Artifact]

  /// Whether undelivered files of the entry are in staging. They are removed after the ledger's commit, because an
  /// intent without its staged file means that the file was delivered.
  private(set) var hasLeftovers = false

  /// The entry with its files: as an intent, or as its end when the files have their final names.
  var recorded: LedgerEntry {
    var entry = entry
    entry.delivery = artifacts.main?.delivery
    entry.others += artifacts.filter { $0.delivery.target != entry.delivery?.target }.map(\.delivery)
    return entry
  }

  /// Whether its main file has certainly not got its name: it is in staging.
  func isUnplaced(in staging: Staging) -> Bool {
    guard let staged = artifacts.main?.delivery.staged else { return true }
    return ((try? staging.open().status(of: staged)) ?? nil) != nil
  }

  /// The folders of the files' targets, relative to the job's.
  var subfolders: [String] { artifacts.map(\.delivery.subfolder) }

  /// Moves the files to their final names, in the order of their kinds. Derived files that cannot be moved are dropped.
  /// - Parameters:
  ///   - name: The name of the entry.
  ///   - isAgain: Whether this was begun before. Files that are missing in staging then have their final names.
  ///   - opened: Open folders of targets, by path.
  ///   - placed: The paths of new files. The variants of an entry deliver the same original.
  /// - Returns: The subfolders from which derived files of an earlier result were removed.
  /// - Throws: The errors of `Placement.place`.
  mutating func place(
    _ name: String, by placement: Placement, isAgain: Bool, in opened: [ByteKey: OpenFolder] = [:],
    placed: inout Set<ByteKey>
  ) throws -> [String] {
    func folder(of artifact: Artifact) -> OpenFolder? {
      opened[ByteKey(placement.folder.file(artifact.delivery.subfolder))]
    }
    let main = artifacts.main
    var changed: [String] = []
    var isReplaced = isAgain && main?.kind == .result
    for kind in Artifact.Kind.allCases {
      guard let index = artifacts.firstIndex(where: { $0.kind == kind }) else {
        if kind.isDerived, isReplaced, row.derived[kind] == nil {
          changed += try [placement.remove(kind, of: name)].compactMap { $0 }
        }
        continue
      }
      do {
        let (artifact, target) = (artifacts[index], ByteKey(placement.folder.file(artifacts[index].delivery.target)))
        // An original does not take the place of an earlier one without its result: both stay a pair.
        if let main, main.kind != kind, !kind.isDerived, !placement.folder.isFree(artifact.delivery.target) {
          try placement.check(main.delivery, before: artifact.delivery, in: folder(of: main), over: main.existingFile)
        }
        let outcome =
          try isAgain
          ? placement.recover(artifact.delivery)
          : placement.place(artifact.delivery, in: folder(of: artifact), over: artifact.existingFile)
        artifacts[index].record(outcome, isOwn: placed.contains(target))
        if case .adopted = outcome { continue }
        placed.insert(target)
        if outcome == .replaced, kind == main?.kind { isReplaced = true }
      } catch  where kind.isDerived {
        drop(kind)
      }
    }
    return changed
  }

  /// Drops a derived file.
  mutating func drop(_ kind: Artifact.Kind) {
    artifacts.removeAll { $0.kind == kind }
    hasLeftovers = true
    row.derived[kind] = nil
    entry.row = row.json.text
    guard let index = artifacts.firstIndex(where: { $0.kind == .result }),
      var provenance = artifacts[index].delivery.origin.flatMap(Provenance.init(text:))
    else { return }
    provenance.derived[kind] = nil
    artifacts[index].delivery.origin = provenance.text
  }

  /// Makes the entry a failed one. Files with final names stay there, and are recorded as the job's.
  mutating func fail(_ failed: LedgerEntry, _ row: ReportRow) {
    let placed = artifacts.filter(\.isPlaced)
    (entry, self.row, artifacts) = (failed, row, [])
    if let original = placed[.original] {
      self.row.source?.file = original.delivery.target
      entry.row = self.row.json.text
    }
    entry.others += placed.map(\.delivery)
    hasLeftovers = true
  }

  /// Closes the files.
  mutating func close() {
    for index in artifacts.indices { (artifacts[index].file, artifacts[index].existingFile) = (nil, nil) }
  }
}

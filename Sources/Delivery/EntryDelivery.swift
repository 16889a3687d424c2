import Ledger
import Model
import System

/// What is recorded of an entry, with its row and the files that it delivers.
struct EntryDelivery: Sendable {
  /// Without `artifacts`.
  private(set) var entry: LedgerEntry
  private(set) var row: ReportRow
  private(set) var artifacts: [Artifact]

  /// Whether files of the entry stay in staging that are not delivered. They are removed when the ledger knows: an intent whose
  /// staged file is gone means that the file was delivered.
  private(set) var hasLeftovers = false

  /// The entry as an intent, or its end when its files are placed.
  var recorded: LedgerEntry {
    var entry = entry
    entry.delivery = artifacts.main?.delivery
    entry.others += artifacts.filter { $0.delivery.target != entry.delivery?.target }.map(\.delivery)
    return entry
  }

  /// The folders that the files go to, relative to the job's.
  var subfolders: [String] { artifacts.map(\.delivery.subfolder) }

  /// Gives the files their final names, in the order of their kinds. What is made of the result and cannot be placed is dropped.
  /// - Parameters:
  ///   - name: The entry's.
  ///   - isAgain: Whether that was begun before: a file that is not in staging had its final name then.
  ///   - opened: The folders to which files go, by their paths, if they are open already.
  ///   - placed: The paths of the files that were not there before. The variants of an entry bring the same original.
  /// - Returns: The subfolders that have lost what was made of an earlier result.
  /// - Throws: As `Placement.place`.
  mutating func place(
    _ name: String, by placement: Placement, isAgain: Bool, in opened: [String: OpenFolder] = [:],
    placed: inout Set<String>
  ) throws -> [String] {
    func folder(of artifact: Artifact) -> OpenFolder? { opened[placement.folder.file(artifact.delivery.subfolder)] }
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
        let (artifact, target) = (artifacts[index], placement.folder.file(artifacts[index].delivery.target))
        if let main, main.kind != kind, !kind.isDerived {
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

  /// Gives up what was made of the result.
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

  /// Changes what the entry comes to. What has its final name by now stays there, and is the job's.
  mutating func fail(_ failed: LedgerEntry, _ row: ReportRow) {
    let placed = artifacts.filter(\.isPlaced).map(\.delivery)
    (entry, self.row, artifacts) = (failed, row, [])
    entry.others += placed
    hasLeftovers = true
  }

  /// Closes the files.
  mutating func close() {
    for index in artifacts.indices { (artifacts[index].file, artifacts[index].existingFile) = (nil, nil) }
  }
}

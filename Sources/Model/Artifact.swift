import JSON
import Ledger
import System

/// A file that an entry delivers: it is made in staging, and gets its final name with the others of the entry.
package struct Artifact: Sendable {
  /// What it is. In this order the files of an entry are placed.
  package enum Kind: String, Sendable, CaseIterable {
    /// The source, where that is kept.
    case original
    case result
    /// A small picture of the result, for the gallery.
    case preview

    /// What is made of the result. What cannot be delivered of it is given up, and the entry does not fail.
    static let derived = allCases.filter(\.isDerived)

    package var isDerived: Bool {
      switch self {
      case .original, .result: false
      case .preview: true
      }
    }

    /// The folder of such files beneath the job's.
    package var folder: String {
      switch self {
      case .original: "originals"
      case .result: "images"
      case .preview: "previews"
      }
    }

    /// The origin of such a file in the ledger: without it, the file was there already, or that is not known. nil for a result,
    /// which has its `Provenance`.
    package var origin: String? { self == .result ? nil : rawValue }
  }

  package let kind: Kind
  package var delivery: Delivery

  /// The file in staging, while it is open: it is to be synced.
  package var file: OpenFile?

  /// What had its final name when it was made, if that was found out.
  package var existingFile: ExistingFile?

  /// Whether it has its final name: delivered now, or in the outbox already.
  package var isPlaced = false

  /// - Parameter staged: Its name in staging.
  package init(_ kind: Kind, _ file: OpenFile?, staged: String, target: String, bytes: Int, sha256: String) {
    self.kind = kind
    self.file = file
    delivery = Delivery(staged: staged, target: target, bytes: bytes, sha256: sha256, origin: kind.origin)
  }
}

extension [Artifact] {
  package subscript(kind: Artifact.Kind) -> Artifact? { first { $0.kind == kind } }

  /// The one for which the intent is recorded: the result or, of an entry without a new one, its source. The others follow from
  /// the row.
  package var main: Artifact? { self[.result] ?? self[.original] }

  /// What is made of the result, by its kinds.
  func derived<Value>(_ value: (Delivery) -> Value) -> [Artifact.Kind: Value] {
    .init(uniqueKeysWithValues: filter(\.kind.isDerived).map { ($0.kind, value($0.delivery)) })
  }
}

extension LedgerEntry {
  /// The files that are about to be delivered, or were, as the intent, the row and the result's provenance say. What is in
  /// staging besides the intent's file is named after the entry.
  /// - Throws: For a row that cannot be read.
  package func artifacts(run runID: String) throws -> [Artifact] {
    guard let delivery else { return [] }
    func artifact(_ kind: Artifact.Kind, _ target: String, _ bytes: Int, _ sha256: String) -> Artifact {
      Artifact(
        kind, nil, staged: Staging.file(kind, of: position, run: runID), target: target, bytes: bytes, sha256: sha256)
    }
    let row = try ReportRow(parsing: row)
    var main = artifact(delivery.origin.flatMap(Artifact.Kind.init(rawValue:)) ?? .result, "", 0, "")
    main.delivery = delivery
    var artifacts = [main]
    if let source = row.source, let file = source.file, file != delivery.target {
      artifacts.append(artifact(.original, file, source.bytes, source.sha256))
    }
    for (kind, file) in delivery.origin.flatMap(Provenance.init(text:))?.derived ?? [:] {
      if let target = row.derived[kind] { artifacts.append(artifact(kind, target, file.bytes, file.sha256)) }
    }
    return artifacts
  }

  /// The changes that record what was delivered of what was about to be, by a run that does not go on.
  /// - Parameter isThere: Whether a file has its final name.
  package func delivered(run runID: String, job: String, isThere: (Delivery) throws -> Bool) rethrows -> [LedgerChange]
  {
    guard let delivery else { return [] }
    let others = ((try? artifacts(run: runID)) ?? []).map(\.delivery).filter { $0.target != delivery.target }
    return try others.filter(isThere).map { .recall($0, job: job) }
      + (isThere(delivery) ? [.finish(self, run: runID, job: job)] : [])
  }
}

extension Dictionary where Key == Artifact.Kind {
  /// Reads what an object has under the names of the kinds that are derived.
  init(_ json: JSONValue, _ read: (JSONValue) -> Value?) {
    self.init()
    for kind in Key.derived { self[kind] = json[kind.rawValue].flatMap(read) }
  }

  /// The members of an object, under the names of their kinds.
  func members(_ json: (Value) -> JSONValue) -> [JSONValue.Member] {
    isEmpty ? [] : Key.derived.compactMap { kind in self[kind].map { .init(kind.rawValue, json($0)) } }
  }
}

import JSON
import Ledger
import System

/// A file that an entry delivers. It is written to staging, and moved together with the entry's other files.
package struct Artifact: Sendable {
  /// The kinds of files, in the order in which the files of an entry get their final names.
  package enum Kind: String, Sendable, CaseIterable {
    /// The source, if originals are kept.
    case original
    case result
    /// A small picture of the result, for the gallery.
    case preview

    /// The kinds that are made from the result. When one of them cannot be delivered, the entry succeeds without it.
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

    /// Whether a path relative to a job's folder is that of such a folder, or of something in it.
    static func hasFolder(of path: String) -> Bool {
      allCases.contains { Folder.path(path, in: $0.folder) != nil }
    }

    /// The file's origin in the ledger; nil for a result, whose origin is its `Provenance`. A file without an origin
    /// existed before it was delivered, or its origin is unknown.
    package var origin: String? { self == .result ? nil : rawValue }
  }

  package let kind: Kind
  package var delivery: Delivery

  /// The file in staging while it is open. It still has to be synced.
  package var file: OpenFile?

  /// The file that had the final name when this one was made; nil when there was none, or when it was not looked for.
  package var existingFile: ExistingFile?

  /// Whether the file has its final name: delivered by this run, or in the outbox before it.
  package var isPlaced = false

  /// - Parameter staged: Its name in staging.
  package init(_ kind: Kind, _ file: OpenFile?, staged: String, target: String, bytes: Int, sha256: String) {
    self.kind = kind
    self.file = file
    delivery = Delivery(staged: staged, target: target, bytes: bytes, sha256: sha256, origin: kind.origin)
  }
}

/// A source that is delivered as soon as it is downloaded, and not with the result.
package struct EarlyOriginal: Sendable, Equatable {
  package let delivery: Delivery

  /// Whether it has its final name. If not when the entry ends, it is delivered with the result.
  package var isDelivered: Bool

  package init(_ delivery: Delivery, isDelivered: Bool = false) {
    (self.delivery, self.isDelivered) = (delivery, isDelivered)
  }
}

extension [Artifact] {
  package subscript(kind: Artifact.Kind) -> Artifact? { first { $0.kind == kind } }

  /// The file for which the intent is recorded: the result or, for an entry without a new result, its source. The other
  /// files follow from the row.
  package var main: Artifact? { self[.result] ?? self[.original] }

  /// Maps the files made from the result to values, by kind.
  func derived<Value>(_ value: (Delivery) -> Value) -> [Artifact.Kind: Value] {
    .init(uniqueKeysWithValues: filter(\.kind.isDerived).map { ($0.kind, value($0.delivery)) })
  }
}

extension LedgerEntry {
  /// The files that are about to be delivered, or were, according to the intent, the row and the result's provenance.
  /// In staging, all but the intent's file are named after the entry.
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

  /// The changes that record which files of an interrupted delivery were delivered, for a run that does not continue.
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
  /// Reads the members of an object that are named after derived kinds.
  init(_ json: JSONValue, _ read: (JSONValue) -> Value?) {
    self.init()
    for kind in Key.derived { self[kind] = json[kind.rawValue].flatMap(read) }
  }

  /// The members of an object, named after their kinds.
  func members(_ json: (Value) -> JSONValue) -> [JSONValue.Member] {
    isEmpty ? [] : Key.derived.compactMap { kind in self[kind].map { .init(kind.rawValue, json($0)) } }
  }
}

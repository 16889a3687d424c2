import Model
import System

/// A line of the outbox's instance file that identifies the outbox. It distinguishes an outbox from another folder
/// under its path, such as an empty mount point.
package enum OutboxMarker {
  /// Checks that an outbox is the one that was used before. An outbox with jobs and without a marker is accepted, since
  /// it has only lost its state.
  /// - Parameter known: The marker of the outbox that was used before.
  /// - Throws: `StopError.outbox` for another outbox; `SystemError`.
  package static func check(_ outbox: OutboxFolder, is known: String) throws {
    guard let difference = try difference(of: outbox, from: known) else { return }
    throw StopError.outbox(
      "\(difference.question(of: outbox.path)) With --create on the command line "
        + (difference == .missing ? "a new one begins here" : "this one is used from now on"))
  }

  /// How a folder differs from the outbox that was used before.
  package enum Difference {
    /// No folder, or one without jobs and without a marker.
    case missing
    /// Another outbox.
    case other

    package var text: String {
      switch self {
      case .missing: "the outbox that was used with this inbox is not here"
      case .other: "this is not the outbox that was used with this inbox, but another one"
      }
    }

    /// The difference of the folder at a path, as a message that asks for the usual cause.
    package func question(of path: String) -> String { "\(path): \(text). Is the outbox mounted?" }
  }

  /// The difference between an outbox and the one that was used before; nil when it is the same.
  /// - Parameter known: The marker of the outbox that was used before.
  package static func difference(of outbox: OutboxFolder, from known: String) throws(SystemError) -> Difference? {
    let folder: OpenFolder
    do {
      folder = try outbox.open()
    } catch  where error.cause == .missing {
      return .missing
    }
    let found = try read(folder)
    if found == known { return nil }
    guard found == nil else { return .other }
    return try hasJobs(folder) ? nil : .missing
  }

  /// The outbox's marker. Creates one, durably, if there is none.
  /// - Parameters:
  ///   - lock: The lock of the outbox.
  ///   - hidden: The folder of the lock's file.
  ///   - known: The marker to restore in an outbox that has lost its state; nil to create a new one. An outbox with a
  ///     new marker is unknown until the inbox remembers it.
  package static func take(
    _ lock: InstanceLock, in hidden: OpenFolder, known: String?
  ) throws(SystemError) -> String {
    if let marker = marker(lock.notes) { return marker }
    let marker = known ?? RunID.make()
    try lock.note("marker \(marker)\n")
    try hidden.sync()
    return marker
  }

  private static func read(_ outbox: OpenFolder) throws(SystemError) -> String? {
    do {
      let file = try outbox.open(reading: ".darkroom/" + OutboxFolder.instanceName)
      return marker(try InstanceLock.notes(of: file))
    } catch  where error.cause == .missing {
      return nil
    }
  }

  private static func marker(_ notes: String) -> String? {
    let prefix = "marker "
    let line = notes.split(separator: "\n").first { $0.hasPrefix(prefix) }
    return line.map { String($0.dropFirst(prefix.count)) }
  }

  private static func hasJobs(_ outbox: OpenFolder) throws(SystemError) -> Bool {
    for name in try outbox.names().compactMap(\.text) where !name.begins(with: ".") {
      guard try outbox.status(of: name)?.kind == .folder, let job = try? outbox.folder(name) else { continue }
      let left = ["report.json", "entries.jsonl", "history", "images"]
      if left.contains(where: { (try? job.status(of: $0)) != nil }) { return true }
    }
    return false
  }
}

/// The outboxes that were used with an inbox, from its instance file. They are stored there because the state may be in
/// an outbox that is not mounted.
package struct KnownOutboxes: Sendable, Equatable {
  /// The most outboxes that are remembered.
  static let limit = 16

  /// An outbox: a digest of its path, which may contain any character, and its marker.
  private struct Known: Equatable {
    let pathDigest: String
    let marker: String
  }

  /// The outbox that was used last comes first.
  private var known: [Known]

  package init(notes: String) {
    let words = notes.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    known = words.compactMap { $0.count == 3 && $0[0] == "outbox" ? Known(pathDigest: $0[1], marker: $0[2]) : nil }
  }

  /// How the folder at an outbox's path differs from the outbox that was used with an inbox; nil when it is the same, when there was
  /// none, or when this user may not find out.
  /// - Parameter inbox: The path of the inbox.
  package static func difference(inbox: String, outbox: OutboxFolder) -> OutboxMarker.Difference? {
    guard let file = try? OpenFolder(inbox).open(reading: Inbox.instanceFile),
      let notes = try? InstanceLock.notes(of: file),
      let known = KnownOutboxes(notes: notes).marker(of: outbox.path)
    else { return nil }
    return try? OutboxMarker.difference(of: outbox, from: known)
  }

  var notes: String { known.map { "outbox \($0.pathDigest) \($0.marker)\n" }.joined() }

  /// The marker of an outbox when it was last used; nil when it is not known.
  /// - Parameter path: The outbox's path, with symbolic links resolved.
  package func marker(of path: String) -> String? { known.first { $0.pathDigest == Self.pathDigest(path) }?.marker }

  /// Remembers an outbox as the one that was used last.
  package mutating func remember(_ marker: String, of path: String) {
    let new = Known(pathDigest: Self.pathDigest(path), marker: marker)
    known = Array(([new] + known.filter { $0.pathDigest != new.pathDigest }).prefix(Self.limit))
  }

  private static func pathDigest(_ path: String) -> String { String(MessageDigest.hexDigest(of: path).prefix(16)) }
}

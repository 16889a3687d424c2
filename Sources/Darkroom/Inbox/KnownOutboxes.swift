import System

/// The outboxes that were used with an inbox, as its instance file has them: the state may lie in an outbox, and is gone
/// with it when that is not mounted.
struct KnownOutboxes: Sendable, Equatable {
  /// So many are remembered.
  static let limit = 16

  /// A digest of the path, which may hold anything, and the marker.
  private struct Known: Equatable {
    let place: String
    let marker: String
  }

  /// The last used first.
  private var known: [Known]

  /// Reads the lines of an instance file.
  init(notes: String) {
    let words = notes.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    known = words.compactMap { $0.count == 3 && $0[0] == "outbox" ? Known(place: $0[1], marker: $0[2]) : nil }
  }

  /// The lines for an instance file.
  var notes: String { known.map { "outbox \($0.place) \($0.marker)\n" }.joined() }

  /// The marker that the outbox had when it was last used; nil for one that is not known.
  /// - Parameter path: Of the outbox, symbolic links resolved.
  func marker(of path: String) -> String? { known.first { $0.place == Self.place(path) }?.marker }

  /// Remembers an outbox as the one that was used last.
  mutating func remember(_ marker: String, of path: String) {
    let new = Known(place: Self.place(path), marker: marker)
    known = Array(([new] + known.filter { $0.place != new.place }).prefix(Self.limit))
  }

  private static func place(_ path: String) -> String { String(MessageDigest.hexDigest(of: path).prefix(16)) }
}

/// The deferred entries of a job. Those that are due are handed out a few at a time, and a few for each host, so that very
/// many need little memory, and entries of a held host do not delay those of others, unless 128 such hosts do. Due ones
/// rank after the new entries of their job, which they would delay for ever otherwise. Times are milliseconds of any clock.
package struct DeferredQueue {
  /// The most entries that are handed out and not started.
  package static let limit = 4096

  /// The most entries of one host that are.
  package static let limitPerHost = 32

  /// The most entries that one call examines, since each costs a query.
  package static let pageSize = 256

  /// An entry to try as soon as its host has room.
  package struct Due: Equatable, Sendable {
    package let entry: DeferredEntry
    package let key: EntryKey
    package let host: Int
  }

  /// The host and the key of an entry.
  package typealias HostAndKey = (host: Int, key: EntryKey)

  private var waiting = PriorityQueue<DeferredEntry>()

  /// Due entries by host, while their host has enough entries handed out.
  private var held: [Int: PriorityQueue<DeferredEntry>] = [:]
  private var heldCount = 0

  /// Hosts of `held` that may get another entry.
  private var freed: Set<Int> = []

  /// Entries that were handed out and not started, by position, and their number for each host.
  private var handedOut: [Int: Due] = [:]
  private var handedOutOfHost: [Int: Int] = [:]

  /// When `takeDue` was last called: all entries of `held` were due by then.
  private var lastTaken = 0

  package init() {}

  /// The number of entries that are deferred and not being tried.
  package var count: Int { waiting.count + heldCount + handedOut.count }

  /// All entries, in no order.
  package var entries: [DeferredEntry] {
    waiting.elements + held.values.flatMap(\.elements) + handedOut.values.map(\.entry)
  }

  /// When the next entry becomes due; nil when there is none.
  package var nextDue: Int? { waiting.first?.due }

  /// When `takeDue` has work, or had since its last call; nil when an entry must start first.
  package var nextChange: Int? {
    guard handedOut.count < Self.limit else { return nil }
    return freed.isEmpty ? nextDue : lastTaken
  }

  package mutating func insert(_ entry: DeferredEntry) { waiting.insert(entry) }

  /// Removes and returns due entries: a page of them, so that `nextChange` may stay due. Call `started` for each.
  /// - Parameter hostAndKey: Returns the host and key of the entry at a position; nil to forget the entry.
  package mutating func takeDue(now: Int, hostAndKey: (Int) throws -> HostAndKey?) rethrows -> [Due] {
    lastTaken = now
    var due: [Due] = []
    var left = Self.pageSize
    while left > 0, handedOut.count < Self.limit, let host = freed.first {
      guard hasRoom(host), let entry = popHeld(host) else {
        freed.remove(host)
        continue
      }
      left -= 1
      if let found = try hostAndKey(entry.position) { due.append(handOut(entry, found)) }
    }
    while left > 0, handedOut.count < Self.limit, let first = waiting.first, first.due <= now {
      _ = waiting.popFirst()
      left -= 1
      guard let found = try hostAndKey(first.position) else { continue }
      if hasRoom(found.host) {
        due.append(handOut(first, found))
      } else {
        held[found.host, default: PriorityQueue()].insert(first)
        heldCount += 1
      }
    }
    return due
  }

  /// Records that an entry that was handed out has started, for the first time or again.
  package mutating func started(_ position: Int) {
    guard let host = handedOut.removeValue(forKey: position)?.host else { return }
    let left = (handedOutOfHost[host] ?? 1) - 1
    handedOutOfHost[host] = left > 0 ? left : nil
    if held[host] != nil { freed.insert(host) }
  }

  private func hasRoom(_ host: Int) -> Bool { handedOutOfHost[host, default: 0] < Self.limitPerHost }

  private mutating func handOut(_ entry: DeferredEntry, _ found: HostAndKey) -> Due {
    let due = Due(entry: entry, key: found.key, host: found.host)
    handedOut[entry.position] = due
    handedOutOfHost[found.host, default: 0] += 1
    return due
  }

  private mutating func popHeld(_ host: Int) -> DeferredEntry? {
    guard let entry = held[host]?.popFirst() else { return nil }
    heldCount -= 1
    if held[host]?.first == nil { held[host] = nil }
    return entry
  }
}

/// An entry that is deferred: 24 bytes, because there may be very many. Times are milliseconds of any clock.
package struct DeferredEntry: Comparable, Sendable {
  /// When it is tried again.
  package let due: Int

  package let firstTried: Int

  private let storedPosition: UInt32
  private let tries: UInt32

  package init(position: Int, attempts: Int, due: Int, firstTried: Int) {
    storedPosition = UInt32(clamping: position)
    tries = UInt32(clamping: attempts)
    self.due = due
    self.firstTried = firstTried
  }

  /// Restores an entry that an earlier process deferred. The system's clock may have been set since: the wait is not longer
  /// than it was then, and the age is not negative.
  /// - Parameters:
  ///   - due: When it is tried again, by the system's clock.
  ///   - wait: How long it was to wait then.
  ///   - firstTried: When it was first tried, by the system's clock.
  ///   - wallNow: The time of the system's clock.
  ///   - now: The time of the clock of the entry's times.
  package init(
    position: Int, attempts: Int, due: Int, wait: Int, firstTried: Int, wallNow: Int, now: Int
  ) {
    self.init(
      position: position, attempts: attempts, due: now + min(max(0, due - wallNow), max(0, wait)),
      firstTried: now - max(0, wallNow - firstTried))
  }

  /// The position in the manifest, from 0.
  package var position: Int { Int(storedPosition) }

  package var attempts: Int { Int(tries) }

  package static func < (a: DeferredEntry, b: DeferredEntry) -> Bool {
    (a.due, a.storedPosition) < (b.due, b.storedPosition)
  }
}

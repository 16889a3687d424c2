/// The deferred entries of a job. Those that are due are handed out a few at a time, and a few for each host, so that very
/// many of them need little memory, and those of a host that is held keep none of another waiting; those of 128 such hosts
/// do. Those that are due rank after the new entries of their job, which they would keep waiting for ever otherwise. Times are
/// milliseconds of any clock.
package struct DeferredQueue {
  /// So many entries at most are handed out and not started.
  package static let limit = 4096

  /// So many of one host.
  package static let limitPerHost = 32

  /// So many are looked at in one call at most, since each costs a query.
  package static let pageSize = 256

  /// An entry that is to be tried as soon as its host has room.
  package struct Due: Equatable, Sendable {
    package let entry: DeferredEntry
    package let key: EntryKey
    package let host: Int
  }

  /// Where an entry belongs.
  package typealias Place = (host: Int, key: EntryKey)

  private var waiting = PriorityQueue<DeferredEntry>()

  /// Entries that are due, by host, while their host has enough handed out.
  private var held: [Int: PriorityQueue<DeferredEntry>] = [:]
  private var heldCount = 0

  /// Hosts of `held` of which another may be handed out.
  private var freed: Set<Int> = []

  /// What was handed out and not started, by the entries' positions, and how much of it each host has.
  private var handedOut: [Int: Due] = [:]
  private var handedOutOfHost: [Int: Int] = [:]

  /// When `takeDue` was last called: all entries of `held` were due by then.
  private var lastTaken = 0

  package init() {}

  /// How many entries are deferred and not being tried.
  package var count: Int { waiting.count + heldCount + handedOut.count }

  /// All of them, in no order.
  package var entries: [DeferredEntry] {
    waiting.elements + held.values.flatMap(\.elements) + handedOut.values.map(\.entry)
  }

  /// When the first that is not due becomes so; nil when there is none.
  package var nextDue: Int? { waiting.first?.due }

  /// When `takeDue` has something to do, or had since it was last called; nil when something must start before.
  package var nextChange: Int? {
    guard handedOut.count < Self.limit else { return nil }
    return freed.isEmpty ? nextDue : lastTaken
  }

  package mutating func insert(_ entry: DeferredEntry) { waiting.insert(entry) }

  /// Takes out entries that are due: a page of them, so that `nextChange` may stay due. `started` is to be called for each.
  /// - Parameter place: The place of the entry at a position; nil when there is none, and it is forgotten.
  package mutating func takeDue(now: Int, place: (Int) throws -> Place?) rethrows -> [Due] {
    lastTaken = now
    var due: [Due] = []
    var left = Self.pageSize
    while left > 0, handedOut.count < Self.limit, let host = freed.first {
      guard hasRoom(host), let entry = popHeld(host) else {
        freed.remove(host)
        continue
      }
      left -= 1
      if let place = try place(entry.position) { due.append(handOut(entry, place)) }
    }
    while left > 0, handedOut.count < Self.limit, let first = waiting.first, first.due <= now {
      _ = waiting.popFirst()
      left -= 1
      guard let place = try place(first.position) else { continue }
      if hasRoom(place.host) {
        due.append(handOut(first, place))
      } else {
        held[place.host, default: PriorityQueue()].insert(first)
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

  private mutating func handOut(_ entry: DeferredEntry, _ place: Place) -> Due {
    let due = Due(entry: entry, key: place.key, host: place.host)
    handedOut[entry.position] = due
    handedOutOfHost[place.host, default: 0] += 1
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
  /// When it is to be tried again.
  package let due: Int

  package let firstTried: Int

  private let place: UInt32
  private let tries: UInt32

  package init(position: Int, attempts: Int, due: Int, firstTried: Int) {
    place = UInt32(clamping: position)
    tries = UInt32(clamping: attempts)
    self.due = due
    self.firstTried = firstTried
  }

  /// Takes over an entry that an earlier process deferred. The system's clock may have been set since: the wait is not
  /// longer than it was then, and the age not less than nothing.
  /// - Parameters:
  ///   - due: When it is to be tried again, by the system's clock.
  ///   - wait: How long that was to take.
  ///   - firstTried: When it was first tried, by the system's clock.
  ///   - wallNow: What the system's clock says.
  ///   - now: What the clock says of which the entry's times are.
  package init(
    position: Int, attempts: Int, due: Int, wait: Int, firstTried: Int, wallNow: Int, now: Int
  ) {
    self.init(
      position: position, attempts: attempts, due: now + min(max(0, due - wallNow), max(0, wait)),
      firstTried: now - max(0, wallNow - firstTried))
  }

  /// The place in the manifest, from 0.
  package var position: Int { Int(place) }

  package var attempts: Int { Int(tries) }

  package static func < (a: DeferredEntry, b: DeferredEntry) -> Bool {
    (a.due, a.place) < (b.due, b.place)
  }
}

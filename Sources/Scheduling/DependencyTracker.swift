/// Tracks which entries of a job may start because their dependencies have succeeded, and which fail because a dependency
/// has not.
///
/// It knows positions in the manifest only. The dependents of an entry are queried a page at a time, without recursion: neither
/// a long chain nor an entry with very many dependents takes more memory than a page, or more time at once.
package struct DependencyTracker: Sendable {
  /// The most entries that are queried at once.
  package static let pageSize = 256

  /// While so many entries fail, no others are looked for.
  package static let failingLimit = 256

  /// An entry that waits for others: its host and its key in the order of that host.
  package typealias Dependent = (host: Int, key: EntryKey)

  /// An entry that fails because another did not succeed.
  package struct Failing: Equatable, Sendable {
    package let position: Int

    package let dependency: Int

    /// The first entry that did not succeed, for its own reasons; it may be `dependency`.
    package let cause: Int
  }

  /// An entry that has ended, with dependents that may not have been processed.
  private struct Ending {
    let position: Int
    /// The entry that caused its failure; nil when it has succeeded.
    let cause: Int?
    /// The last dependent that was processed.
    var told = -1
  }

  package private(set) var waiting: Int

  /// The last one is processed first, so that there are few of them.
  private var endings: [Ending]

  /// The number of unmet dependencies of an entry, once one of several is met.
  private var unmet: [Int: Int] = [:]

  /// Entries that depend on a failed one.
  private var failed = PositionSet()

  /// Those of them that have not been taken.
  private var failing: [Failing] = []

  /// - Parameters:
  ///   - waiting: How many entries wait for others.
  ///   - unsuccessful: The entries that have ended without success already.
  package init(waiting: Int, unsuccessful: [Int] = []) {
    self.waiting = waiting
    endings = unsuccessful.map { Ending(position: $0, cause: $0) }
  }

  /// Whether `advance` has work.
  package var hasWork: Bool { !endings.isEmpty && failing.count < Self.failingLimit }

  /// Whether there are failing entries to take.
  package var hasFailing: Bool { !failing.isEmpty }

  package mutating func ended(_ position: Int, hasSucceeded: Bool) {
    // The dependents of an entry that failed this way have failed already.
    guard hasSucceeded || !failed.contains(position) else { return }
    endings.append(Ending(position: position, cause: hasSucceeded ? nil : position))
  }

  /// Processes a page of the dependents of an entry that has ended.
  /// - Parameters:
  ///   - dependents: Returns the waiting dependents of an entry after a position, in the order of their positions; at most
  ///     `pageSize`.
  ///   - dependencies: Returns the number of dependencies of an entry that had not succeeded when the job was planned.
  /// - Returns: The entries that may start now.
  package mutating func advance(
    dependents: (_ entry: Int, _ last: Int) throws -> [Dependent], dependencies: (Int) throws -> Int
  ) rethrows -> [Dependent] {
    guard hasWork, let ending = endings.last else { return [] }
    let page = try dependents(ending.position, ending.told)
    if page.count < Self.pageSize {
      endings.removeLast()
    } else {
      endings[endings.count - 1].told = page.last?.key.position ?? ending.told
    }
    if let cause = ending.cause {
      for dependent in page { fail(dependent.key.position, after: ending.position, cause) }
      return []
    }
    return try page.filter { dependent in
      let position = dependent.key.position
      guard !failed.contains(position) else { return false }
      let left = try (unmet[position] ?? dependencies(position)) - 1
      unmet[position] = left > 0 ? left : nil
      if left <= 0 { waiting -= 1 }
      return left <= 0
    }
  }

  private mutating func fail(_ position: Int, after dependency: Int, _ cause: Int) {
    guard failed.insert(position) else { return }
    waiting -= 1
    unmet[position] = nil
    failing.append(Failing(position: position, dependency: dependency, cause: cause))
    endings.append(Ending(position: position, cause: cause))
  }

  package mutating func takeFailing(limit: Int) -> [Failing] {
    let taken = Array(failing.prefix(limit))
    failing.removeFirst(taken.count)
    return taken
  }
}

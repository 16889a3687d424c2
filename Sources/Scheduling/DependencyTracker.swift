/// Follows which entries of a job may start because those that they come after have succeeded, and which fail because one of
/// these has not.
///
/// It knows places in the manifest only. Who comes after whom is asked for, a page at a time and without recursion: neither a
/// long chain nor an entry after which very many come takes more memory than a page, or more time at once.
package struct DependencyTracker: Sendable {
  /// So many entries are asked for at once.
  package static let pageSize = 256

  /// As long as so many entries are to fail, no others are looked for.
  package static let failingLimit = 256

  /// An entry that waits for others: its host and its place in the order of that.
  package typealias Dependent = (host: Int, key: EntryKey)

  /// An entry that fails because another did not succeed.
  package struct Failing: Equatable, Sendable {
    package let position: Int

    package let dependency: Int

    /// The first that did not succeed, for its own reasons; it may be `dependency`.
    package let cause: Int

    package init(position: Int, dependency: Int, cause: Int) {
      self.position = position
      self.dependency = dependency
      self.cause = cause
    }
  }

  /// An entry that has ended, and after which there may be others that were not told.
  private struct Ending {
    let position: Int
    /// Why it did not succeed; nil when it has.
    let cause: Int?
    /// The last that was told.
    var told = -1
  }

  package private(set) var waiting: Int

  /// The last to be told comes first, so that there are few of them.
  private var endings: [Ending]

  /// How many of the entries that an entry comes after have not succeeded, once one of several has.
  private var unmet: [Int: Int] = [:]

  /// Entries that came after one that did not succeed.
  private var failed = PositionSet()

  /// Of these, the ones that are to be taken.
  private var failing: [Failing] = []

  /// - Parameters:
  ///   - waiting: How many entries wait for others.
  ///   - unsuccessful: The entries that have ended already, and have not succeeded.
  package init(waiting: Int, unsuccessful: [Int] = []) {
    self.waiting = waiting
    endings = unsuccessful.map { Ending(position: $0, cause: $0) }
  }

  /// Whether `advance` has something to do.
  package var hasWork: Bool { !endings.isEmpty && failing.count < Self.failingLimit }

  /// Whether entries are to be taken that fail.
  package var hasFailing: Bool { !failing.isEmpty }

  package mutating func ended(_ position: Int, hasSucceeded: Bool) {
    // Those that come after one that was to fail know it already.
    guard hasSucceeded || !failed.contains(position) else { return }
    endings.append(Ending(position: position, cause: hasSucceeded ? nil : position))
  }

  /// Tells a page of those that come after an entry that has ended.
  /// - Parameters:
  ///   - dependents: Those that come after an entry and wait, beginning after a place, in the order of their places; at most
  ///     `pageSize`.
  ///   - dependencies: How many entries an entry comes after that had not succeeded when the job was planned.
  /// - Returns: Those that may start now.
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

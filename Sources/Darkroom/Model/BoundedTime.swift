/// Adds up for how long a run was bounded by what, in milliseconds of the monotonic clock.
struct BoundedTime: Sendable, Equatable {
  private struct Item: Sendable, Equatable {
    var bound: Bound
    var milliseconds: Int
  }

  /// Few, since hosts are named only as long as there is room for them.
  private var items: [Item] = []

  /// Until when it is known what bounded the run.
  private var reached: Int
  private let began: Int

  /// What bounded the run last; nil when nothing did.
  private(set) var last: Bound?

  /// More names of one cause are counted together, without a name.
  static let nameLimit = 32

  /// A run that took less says nothing, in milliseconds.
  static let leastTime = 1000

  /// A smaller share is left out.
  static let leastShare = 0.01

  /// - Parameter now: When the run begins, or its part in this process.
  init(now: Int) { (began, reached) = (now, now) }

  /// Counts the time since this was last called.
  /// - Parameter bound: What bounded the run in that time; nil when nothing did.
  mutating func add(_ bound: Bound?, until now: Int) {
    let time = now - reached
    guard time > 0 else { return }
    (reached, last) = (now, bound)
    guard let bound else { return }
    let place = items.firstIndex { $0.bound.isSame(as: bound) } ?? insert(bound)
    items[place].bound.limit = bound.limit
    items[place].milliseconds += time
  }

  private mutating func insert(_ bound: Bound) -> Int {
    var bound = bound
    if bound.name != nil, items.count(where: { $0.bound.cause == bound.cause }) >= Self.nameLimit {
      bound.name = nil
      if let place = items.firstIndex(where: { $0.bound.isSame(as: bound) }) { return place }
    }
    items.append(Item(bound: bound, milliseconds: 0))
    return items.count - 1
  }

  /// The shares of the time, the largest first; none for a short time. They add up to 1 at most.
  var shares: [BoundedBy] {
    let total = reached - began
    guard total >= Self.leastTime else { return [] }
    return items.filter { Double($0.milliseconds) / Double(total) >= Self.leastShare }
      .sorted { ($0.milliseconds, $1.bound.cause.rawValue) > ($1.milliseconds, $0.bound.cause.rawValue) }
      .map { BoundedBy($0.bound, share: Double($0.milliseconds * 1000 / total) / 1000) }
  }
}

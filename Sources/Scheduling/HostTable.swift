/// The hosts at which a live job has something left or a download runs, each in a slot that it keeps while it is in use,
/// and the throttles of others.
struct HostTable {
  /// By slot. Those of unused slots have no meaning.
  var loads: [HostLoad] = []

  private var slots: [Int: Int] = [:]
  private var unused: [Int] = []
  private var memory = ThrottleMemory()

  /// How many hosts are in use.
  var count: Int { slots.count }

  /// The slot of a host; nil when it is not in use.
  func slot(of number: Int) -> Int? { slots[number] }

  /// Whether a host is in use, or has a throttle.
  func knows(_ number: Int) -> Bool { slots[number] != nil || memory.contains(number) }

  /// Counts one more job at a host.
  /// - Returns: The host's slot.
  mutating func attach(_ number: Int, now: Int) -> Int {
    let slot = slots[number] ?? insert(number, now)
    loads[slot].jobs += 1
    return slot
  }

  private mutating func insert(_ number: Int, _ now: Int) -> Int {
    let load = HostLoad(number: number, throttle: memory.take(number, now: now) ?? Throttle())
    let slot = unused.popLast() ?? loads.count
    if slot == loads.count { loads.append(load) } else { loads[slot] = load }
    slots[number] = slot
    return slot
  }

  /// Counts one job less at a host.
  mutating func detach(_ job: Int, from slot: Int, now: Int) {
    loads[slot].jobs -= 1
    loads[slot].blocked.removeAll { $0.job == job }
    removeIfUnused(slot, now: now)
  }

  /// Removes a host that has neither a job nor a download. Its throttle is remembered.
  mutating func removeIfUnused(_ slot: Int, now: Int) {
    guard loads[slot].jobs == 0, loads[slot].downloading == 0 else { return }
    let number = loads[slot].number
    memory.keep(loads[slot].throttle, of: number, now: now)
    slots[number] = nil
    unused.append(slot)
  }
}

/// The hosts at which a live job has something left or a download runs, each in a slot that it keeps while it is in use,
/// and the throttles of others.
struct HostTable {
  /// By slot. Those of unused slots have no meaning.
  var loads: [HostLoad] = []

  private var slots: [Int: Int] = [:]
  private var unused: [Int] = []
  private var memory = ThrottleMemory()

  /// The slots of hosts with downloads that wait for an answer.
  private var unanswered: Set<Int> = []

  /// How many hosts are in use.
  var count: Int { slots.count }

  /// The slot of a host; nil when it is not in use.
  func slot(of number: Int) -> Int? { slots[number] }

  /// The hosts that are in use, with their slots.
  var used: [(host: Int, slot: Int)] { slots.map { ($0.key, $0.value) } }

  /// Whether a host is in use, or has a throttle.
  func knows(_ number: Int) -> Bool { slots[number] != nil || memory.contains(number) }

  /// Counts one more job at a host.
  /// - Parameter allowance: What the operator allows at a host; evaluated when that is not in use yet.
  /// - Returns: The host's slot.
  mutating func attach(_ number: Int, now: Int, _ allowance: @autoclosure () -> HostAllowance) -> Int {
    let slot = slots[number] ?? insert(number, now, allowance())
    loads[slot].jobs += 1
    return slot
  }

  private mutating func insert(_ number: Int, _ now: Int, _ allowance: HostAllowance) -> Int {
    let throttle = memory.take(number, now: now) ?? Throttle()
    let load = HostLoad(number: number, throttle: throttle, allowance: allowance)
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
    unanswered.remove(slot)
  }

  // MARK: Answers

  /// Records the start of a download.
  mutating func started(_ slot: Int, now: Int) {
    loads[slot].started(now: now)
    if loads[slot].waiting > 0 { unanswered.insert(slot) }
  }

  /// Records that an answer of a host has begun to arrive.
  mutating func answered(_ slot: Int) {
    loads[slot].answered()
    unanswered.remove(slot)
  }

  /// Records the end of a download, and what it says of the host.
  mutating func ended(_ slot: Int, _ contact: Reachability.Contact, began: Int, now: Int, retries: Int) {
    if loads[slot].number != HostScheduler.files {
      loads[slot].record(contact, began: began, now: now, retries: retries)
    }
    loads[slot].ended(began: began)
    if loads[slot].waiting == 0 { unanswered.remove(slot) }
  }

  /// Forgets that hosts were silent, after an outage of the network.
  mutating func forgetSilences() {
    for slot in slots.values { loads[slot].forgetSilences() }
    unanswered = unanswered.filter { loads[$0].waiting > 0 }
  }

  /// How many downloads do nothing but wait for hosts that do not answer.
  func silentDownloads(now: Int) -> Int {
    unanswered.reduce(0) { $0 + loads[$1].silentDownloads(now: now) }
  }
}

/// The hosts with entries of live jobs or with downloads, each in a slot that it keeps while it is in use, and the memory of
/// other hosts.
struct HostTable {
  /// By slot. The loads of unused slots have no meaning.
  var loads: [HostLoad] = []

  private var slots: [Int: Int] = [:]
  private var unused: [Int] = []
  private var memory = HostMemory()

  /// The slots of hosts with downloads that wait for an answer.
  private var unanswered: Set<Int> = []

  /// The slots of closed hosts.
  private(set) var closed: Set<Int> = []

  /// Whether hosts that have never answered may be asked: not while this machine has no network or no name server.
  private(set) var machine = MachineBreaker()

  /// The number of downloads that try whether their hosts answer again.
  private(set) var trials = 0
  private var news = HostNews()

  /// When time was last counted for closed hosts.
  private var counted = 0

  /// Changes of hosts that have not been taken.
  var changes: [HostChange] = []
  var mirrorChecks = MirrorChecks()

  /// The most trials at once.
  static let trialLimit = 16

  /// How often time is counted for closed hosts, in milliseconds. A longer gap, as in a pause, does not count.
  static let countInterval = 1000

  var count: Int { slots.count }

  /// The slot of a host; nil when it is not in use.
  func slot(of number: Int) -> Int? { slots[number] }

  var used: [(host: Int, slot: Int)] { slots.map { ($0.key, $0.value) } }

  /// Whether a host is in use or remembered.
  func knows(_ number: Int) -> Bool { slots[number] != nil || memory.contains(number) }

  /// Whether a host is neither closed nor given up. One that is not in use is open, too, when it may be tried again: otherwise
  /// nobody would find out that it answers.
  func isOpen(_ number: Int, now: Int) -> Bool {
    if let slot = slots[number] { return loads[slot].breaker.state == .open }
    guard let breaker = memory.breaker(of: number) else { return true }
    return breaker.state == .open || breaker.trialDue.map { $0 <= now } == true
  }

  /// Counts one more job at a host.
  /// - Parameter allowance: The operator's limits for the host; evaluated when the host is not in use yet.
  /// - Returns: The host's slot.
  mutating func attach(_ number: Int, now: Int, _ allowance: @autoclosure () -> HostAllowance) -> Int {
    let slot = slots[number] ?? insert(number, now, allowance())
    loads[slot].jobs += 1
    return slot
  }

  private mutating func insert(_ number: Int, _ now: Int, _ allowance: HostAllowance) -> Int {
    let known = memory.take(number, now: now)
    var load = HostLoad(number: number, throttle: known?.throttle ?? Throttle(), allowance: allowance)
    if let known { load.breaker = known.breaker }
    let slot = unused.popLast() ?? loads.count
    if slot == loads.count { loads.append(load) } else { loads[slot] = load }
    slots[number] = slot
    if load.breaker.isClosed { closed.insert(slot) }
    return slot
  }

  /// Counts one job less at a host.
  mutating func detach(_ job: Int, from slot: Int, now: Int) {
    loads[slot].jobs -= 1
    loads[slot].blocked.removeAll { $0.job == job }
    removeIfUnused(slot, now: now)
  }

  /// Removes a host that has neither a job nor a download. It is remembered.
  mutating func removeIfUnused(_ slot: Int, now: Int) {
    guard loads[slot].jobs == 0, loads[slot].downloading == 0 else { return }
    let number = loads[slot].number
    memory.keep(loads[slot].throttle, loads[slot].breaker, of: number, now: now)
    slots[number] = nil
    unused.append(slot)
    unanswered.remove(slot)
    closed.remove(slot)
  }

  // MARK: Answers

  /// Records the start of a download.
  /// - Returns: Whether it tries if its host answers again, or fails without a try.
  mutating func started(_ slot: Int, now: Int, isPassedOn: Bool = false) -> HostScheduler.Admission {
    loads[slot].started(now: now, isRequest: !isPassedOn)
    if loads[slot].waiting > 0 { unanswered.insert(slot) }
    if machine.isClosed, isUnknown(slot) {
      machine.trialBegan(at: loads[slot].number, now: now)
      return .request
    }
    guard loads[slot].breaker.state != .open else { return .request }
    guard !isPassedOn, let due = loads[slot].breaker.trialDue, due <= now, hasTrialRoom else { return .failure }
    loads[slot].breaker.trialBegan(now: now)
    trials += 1
    return .trial
  }

  /// Whether a host has neither answered nor begun to.
  private func isUnknown(_ slot: Int) -> Bool {
    loads[slot].number != HostScheduler.files && !loads[slot].breaker.responds && !loads[slot].breaker.hasAnswered
  }

  /// Whether a host may be asked, with respect to this machine's network.
  func mayAsk(_ slot: Int, now: Int) -> Bool { !machine.isClosed || !isUnknown(slot) || machine.isTrialDue(now: now) }

  /// Whether one more closed host may be tried.
  var hasTrialRoom: Bool { trials < Self.trialLimit }

  /// Records that an answer of a host has begun to arrive.
  mutating func answerBegan(_ slot: Int) {
    loads[slot].answerBegan()
    unanswered.remove(slot)
  }

  /// Records the end of a download, and what it tells about the host.
  /// - Returns: The slots of closed hosts that may be tried at once, because this one has opened.
  mutating func ended(
    _ slot: Int, _ contact: HostScheduler.Contact, began: Int, isTrial: Bool, isOwnFailure: Bool, now: Int
  ) -> Set<Int> {
    if isTrial { trials -= 1 }
    var due: Set<Int> = []
    if loads[slot].number != HostScheduler.files {
      if record(slot, contact, began: began, isTrial: isTrial, isOwnFailure: isOwnFailure, now: now) { due = closed }
    }
    loads[slot].ended(began: began)
    if loads[slot].waiting == 0 { unanswered.remove(slot) }
    return due
  }

  /// - Returns: Whether the host has opened.
  private mutating func record(
    _ slot: Int, _ contact: HostScheduler.Contact, began: Int, isTrial: Bool, isOwnFailure: Bool, now: Int
  ) -> Bool {
    let number = loads[slot].number
    let machineHold = machine.closed
    let isMachineTrial = machine.isClosed && machine.isTrial(number, began: began)
    if let kind = machine.ended(
      at: number, contact, isNew: !loads[slot].breaker.isReached, began: began, now: now)
    {
      if closed.isEmpty { counted = now }
      changes.append(.init(host: HostScheduler.files, kind: kind, ended: machineHold))
    }
    // Other hosts come before it for the next trial: one name that never resolves must not use all of them.
    if isMachineTrial, machine.isClosed { loads[slot].excess += HostScheduler.quantum }
    switch contact {
    case .answered(let firstByte, let isMultiplexed):
      news.record(number, isAnswer: true)
      loads[slot].answerBegan()
      loads[slot].concurrency.answered(
        firstByte: firstByte, isMultiplexed: isMultiplexed, downloading: loads[slot].downloading)
      let ended = loads[slot].breaker.closed
      guard loads[slot].breaker.answered(began: began, now: now) else { return false }
      closed.remove(slot)
      mirrorChecks.addAll()
      changes.append(.init(host: number, kind: .opened, ended: ended))
      for other in closed { loads[other].breaker.makeTrialDue(now: now) }
      return true
    case .failed(let failure):
      let (hadAnswered, wasGivenUp) = (loads[slot].breaker.hasAnswered, loads[slot].breaker.isGivenUp)
      if closed.isEmpty { counted = now }
      if loads[slot].breaker.failed(failure, began: began, isTrial: isTrial, isOwn: isOwnFailure, now: now) {
        closed.insert(slot)
        mirrorChecks.add(number)
        changes.append(.init(host: number, kind: .closed(failure)))
      } else if !wasGivenUp, loads[slot].breaker.isGivenUp {
        changes.append(.init(host: number, kind: .givenUp))
      }
      // Lists may name many hosts that never existed, which is no sign of the network.
      if hadAnswered { news.record(number, isAnswer: false) }
    case .unknown: if isTrial { loads[slot].breaker.trialEnded() }
    }
    return false
  }

  /// When to count time for closed hosts. Default: nil, none is closed.
  var countDue: Int? { closed.isEmpty && !machine.isClosed ? nil : counted + Self.countInterval }

  /// Counts time for closed hosts, if due.
  /// - Parameter isTried: Whether entries at a host's slot may start, so that one may try it: else its time does not pass. nil stands for
  ///   any host.
  /// - Returns: The slots of hosts that are given up because of it.
  mutating func countTime(now: Int, where isTried: (Int?) -> Bool) -> Set<Int> {
    guard let countDue, now >= countDue else { return [] }
    let passed = min(now - counted, 2 * Self.countInterval)
    counted = now
    let news = news
    let machineHold = machine.closed
    if isTried(nil), machine.pass(passed, othersAnswer: news.isAnswer, now: now) {
      changes.append(.init(host: HostScheduler.files, kind: .givenUp, ended: machineHold))
    }
    return giveUp(where: isTried) { breaker, number in
      breaker.pass(passed, othersAnswer: news.othersAnswer(than: number), now: now)
    }
  }

  /// Gives up the closed hosts for which no other host has answered for so many milliseconds, and ends the hold of hosts that
  /// have never answered.
  mutating func giveUpUnanswered(after milliseconds: Int, now: Int) -> Set<Int> {
    if machine.isClosed, machine.unanswered >= milliseconds {
      changes.append(.init(host: HostScheduler.files, kind: .givenUp, ended: machine.closed))
      machine.giveUp(now: now)
    }
    return giveUp { breaker, _ in
      guard breaker.closed.map({ $0.unanswered >= milliseconds }) == true else { return false }
      breaker.giveUp(now: now)
      return true
    }
  }

  private mutating func giveUp(
    where isIncluded: (Int?) -> Bool = { _ in true }, _ decide: (inout HostBreaker, Int) -> Bool
  ) -> Set<Int> {
    var givenUp: Set<Int> = []
    for slot in closed where isIncluded(slot) {
      let ended = loads[slot].breaker.closed
      guard decide(&loads[slot].breaker, loads[slot].number) else { continue }
      givenUp.insert(slot)
      changes.append(.init(host: loads[slot].number, kind: .givenUp, ended: ended))
    }
    closed.subtract(givenUp)
    return givenUp
  }

  /// The longest time, in milliseconds, that a closed host has waited while no other answered.
  var unansweredTime: Int { closed.reduce(machine.unanswered) { max($0, loads[$1].breaker.closed?.unanswered ?? 0) } }

  /// Whether a host waits until it answers, or until this machine has a network.
  func isHeld(_ slot: Int) -> Bool { loads[slot].breaker.isClosed || machine.isClosed && isUnknown(slot) }

  /// The number of downloads that only wait for hosts that do not answer.
  func silentDownloads(now: Int) -> Int { unanswered.reduce(0) { $0 + loads[$1].silentDownloads(now: now) } }
}

/// A change in whether a host is asked.
package struct HostChange: Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    /// Its entries wait.
    case closed(HostBreaker.Failure)
    /// It answers again, also after a hold for which it asked.
    case opened
    /// Its entries fail without being tried.
    case givenUp
  }

  /// The host's number; `HostScheduler.files` for this machine, which means all hosts that have never answered.
  package let host: Int
  package let kind: Kind

  /// Its state while it was closed. Default: nil, it was not closed.
  package var ended: HostBreaker.Closed?
}

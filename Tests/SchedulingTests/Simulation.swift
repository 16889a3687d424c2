import Scheduling
import System

/// Works through the entries of jobs at hosts in simulated time, as `EntryScheduler` does with those of indexes.
struct Simulation {
  /// Entries at one host, in the order of the manifest.
  struct Load {
    let host: Int
    let entries: Int
    let milliseconds: Int
    var priority = 2
  }

  struct Started: Equatable {
    let job: Int
    let host: Int
    let position: Int
    let at: Int
  }

  private struct Running {
    let end: Int
    let entry: Started
    let priority: Int
    let milliseconds: Int
  }

  private struct Job {
    var left: [Int: ArraySlice<EntryKey>] = [:]
    var milliseconds: [Int: Int] = [:]
    /// The hosts that were not started.
    var hosts: ArraySlice<Int> = []
  }

  var scheduler = HostScheduler()
  let places: Int
  let perHost: Int
  let backoff = Backoff(retries: 3)

  /// How a host answers an entry at a time.
  var answer: (_ entry: Started, _ now: Int) -> HostScheduler.Answer = { _, _ in .served }

  private(set) var now = 0
  private(set) var started: [Started] = []
  /// When the last entry of each host has ended.
  private(set) var finished: [Int: Int] = [:]
  /// The most downloads that a host had at once.
  private(set) var atOnce: [Int: Int] = [:]
  /// How many entries have ended, and of these how many were given up.
  private(set) var ended = (all: 0, failed: 0)
  private var running: [Running] = []
  private var jobs: [Int: Job] = [:]

  init(places: Int, perHost: Int = 6) {
    self.places = places
    self.perHost = perHost
  }

  // MARK: Jobs

  mutating func add(job number: Int, _ loads: [Load]) {
    var job = Job()
    var position = 0
    for load in loads {
      let keys = (position..<position + load.entries).map { EntryKey(priority: load.priority, position: $0) }
      job.left[load.host, default: []] += keys
      job.left[load.host]?.sort()
      job.milliseconds[load.host] = load.milliseconds
      position += load.entries
    }
    // As the index gives them.
    job.hosts =
      job.left.compactMap { host, keys in keys.first.map { (key: $0, host: host) } }
      .sorted { $0.key < $1.key }.map(\.host)[...]
    jobs[number] = job
    scheduler.add(job: number)
    setUpcoming(number)
  }

  mutating func remove(job: Int) {
    jobs[job] = nil
    scheduler.remove(job: job, now: now)
  }

  private mutating func setUpcoming(_ job: Int) {
    while let host = jobs[job]?.hosts.first, scheduler.knows(host) {
      scheduler.admit(job: job, host: host, next: next(job, host), now: now)
      jobs[job]?.hosts.removeFirst()
    }
    scheduler.setUpcoming(jobs[job]?.hosts.first.flatMap { next(job, $0) }, job: job)
  }

  private func next(_ job: Int, _ host: Int) -> EntryKey? { jobs[job]?.left[host]?.first }

  // MARK: Time

  /// Starts what may start.
  mutating func fill() {
    while running.count < places, let choice = scheduler.choose(now: now, perHost: HostLimit(fixed: perHost)) {
      switch choice.kind {
      case .retry(let retry):
        scheduler.startRetry(retry, job: choice.job, now: now)
        start(choice.job, retry.host, retry.key)
      case .released: break  // nothing waits for others here
      case .host(let host): startNext(choice.job, host)
      case .upcoming:
        let host = jobs[choice.job]?.hosts.first ?? 0
        if !scheduler.knows(host) {
          startNext(choice.job, host)
          jobs[choice.job]?.hosts.removeFirst()
        }
        setUpcoming(choice.job)
      }
    }
  }

  private mutating func startNext(_ job: Int, _ host: Int) {
    guard let key = jobs[job]?.left[host]?.popFirst() else { return }
    scheduler.start(job: job, host: host, next: next(job, host), now: now)
    start(job, host, key)
  }

  private mutating func start(_ job: Int, _ host: Int, _ key: EntryKey) {
    let milliseconds = jobs[job]?.milliseconds[host] ?? 0
    let entry = Started(job: job, host: host, position: key.position, at: now)
    started.append(entry)
    running.append(
      Running(end: now + milliseconds, entry: entry, priority: key.priority, milliseconds: milliseconds))
    atOnce[host] = max(atOnce[host] ?? 0, running.count { $0.entry.host == host })
  }

  /// Starts what may start, then advances to the next change.
  /// - Returns: Whether there is one.
  mutating func step() -> Bool {
    fill()
    // Without a place a wait that ends changes nothing.
    let change = running.count < places ? scheduler.nextChange : nil
    guard let next = [running.map(\.end).min(), change].compactMap({ $0 }).min() else { return false }
    now = max(now, next)
    let done = running.filter { $0.end <= now }
    running.removeAll { $0.end <= now }
    for entry in done { end(entry) }
    return true
  }

  private mutating func end(_ running: Running) {
    let (entry, answer) = (running.entry, answer(running.entry, now))
    _ = scheduler.downloadEnded(
      host: entry.host, spent: running.milliseconds, began: entry.at, answer, now: now, backoff: backoff)
    finished[entry.host] = now
    let throttle = scheduler.throttle(of: entry.host)
    if case .refused = answer, throttle.refusals <= backoff.retries {
      let key = EntryKey(priority: running.priority, position: entry.position)
      let retry = Retry(key: key, host: entry.host)
      scheduler.retry(retry, job: entry.job, due: throttle.until, now: now)
    } else {
      ended.all += 1
      if case .refused = answer { ended.failed += 1 }
    }
    scheduler.finished(job: entry.job, host: entry.host, now: now)
  }

  /// Advances until a condition holds after a step, or nothing is left.
  mutating func run(until isDone: (Simulation) -> Bool = { _ in false }) {
    while step(), !isDone(self) {}
  }
}

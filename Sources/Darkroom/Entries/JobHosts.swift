import JobIndex
import Scheduling

/// The hosts of a job: those of which no entry was started are read from its index in pages.
struct JobHosts {
  /// A host that was not started, with its first entry.
  struct Upcoming {
    let host: Int
    /// The number that the index gives to it.
    let local: Int
    let key: EntryKey
  }

  private let index: JobIndex

  /// The first host that was not started, once `fetchUpcoming` has found it.
  private(set) var upcoming: Upcoming?

  /// A page of the hosts that were not started.
  private var page: ArraySlice<(host: Int, key: EntryKey)> = []
  private var lastUpcoming: EntryKey?
  private var hasMore = true

  /// How many hosts were admitted before they were started, because this machine had no network.
  var passed = 0

  /// The index's numbers of hosts by those of all jobs, and the other way round.
  private(set) var locals: [Int: Int] = [HostScheduler.files: HostScheduler.files]
  private var numbers: [Int: Int] = [HostScheduler.files: HostScheduler.files]

  init(_ index: JobIndex) { self.index = index }

  /// Whether the next host that was not started is to be looked up.
  var needsUpcoming: Bool { upcoming == nil && (hasMore || !page.isEmpty) }

  /// Whether the next host may be admitted before it is started.
  var mayPass: Bool { upcoming != nil && passed < JobEntries.passLimit }

  /// Finds the first host that was not started; nil when there is none.
  mutating func fetchUpcoming(names: inout HostNames) throws -> Upcoming? {
    if let upcoming { return upcoming }
    if page.isEmpty, hasMore {
      page = try index.hosts(after: lastUpcoming, limit: 256)[...]
      hasMore = !page.isEmpty
    }
    guard let (local, key) = page.first else { return nil }
    upcoming = Upcoming(host: try number(ofHost: local, names: &names), local: local, key: key)
    return upcoming
  }

  /// Advances to the next host that was not started.
  mutating func advance() {
    lastUpcoming = upcoming?.key
    upcoming = nil
    page = page.dropFirst()
  }

  /// The number for all jobs of a host of the index.
  mutating func number(ofHost local: Int, names: inout HostNames) throws -> Int {
    if let number = numbers[local] { return number }
    let number = names.number(of: try index.hostName(local) ?? "")
    numbers[local] = number
    locals[number] = local
    return number
  }

  /// Forgets a host at which the job has nothing left.
  mutating func forget(_ host: Int) {
    guard host != HostScheduler.files, let local = locals.removeValue(forKey: host) else { return }
    numbers[local] = nil
  }
}

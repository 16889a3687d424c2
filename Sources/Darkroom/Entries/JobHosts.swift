import JobIndex
import Scheduling

/// The hosts of a job. Hosts without started entries are read from its index in pages.
struct JobHosts {
  /// A host without started entries, with its first entry.
  struct Upcoming {
    let host: Int
    /// The number of the host in the index.
    let local: Int
    let key: EntryKey
  }

  private let index: JobIndex

  /// The first host without started entries, after `fetchUpcoming`.
  private(set) var upcoming: Upcoming?

  /// A page of hosts without started entries.
  private var page: ArraySlice<(host: Int, key: EntryKey)> = []
  private var lastUpcoming: EntryKey?
  private var hasMore = true

  /// The number of hosts that were admitted before they were started, because this machine had no network.
  var passed = 0

  /// Maps the numbers of hosts for all jobs to those of the index, and vice versa.
  private(set) var locals: [Int: Int] = [HostScheduler.files: HostScheduler.files]
  private var numbers: [Int: Int] = [HostScheduler.files: HostScheduler.files]

  init(_ index: JobIndex) { self.index = index }

  /// Whether the next new host must be looked up.
  var needsUpcoming: Bool { upcoming == nil && (hasMore || !page.isEmpty) }

  /// Whether the next new host may be admitted before it is started.
  var mayPass: Bool { upcoming != nil && passed < JobEntries.passLimit }

  /// Finds the first host without started entries; nil when there is none.
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

  /// Advances to the next host without started entries.
  mutating func advance() {
    lastUpcoming = upcoming?.key
    upcoming = nil
    page = page.dropFirst()
  }

  /// The number for all jobs of a host in the index.
  mutating func number(ofHost local: Int, names: inout HostNames) throws -> Int {
    if let number = numbers[local] { return number }
    let number = names.number(of: try index.hostName(local) ?? "")
    numbers[local] = number
    locals[number] = local
    return number
  }

  /// Removes a host at which the job has no entries left.
  mutating func forget(_ host: Int) {
    guard host != HostScheduler.files, let local = locals.removeValue(forKey: host) else { return }
    numbers[local] = nil
  }
}

import Model
import Scheduling

/// The rules for hosts, as far as they are the scheduler's: how many downloads at once, and how far apart.
extension EntryScheduler {
  /// Sets the rules, also for hosts that are in use.
  func configure(_ rules: HostRules) {
    self.rules = rules
    hosts.setAllowances(allowance)
  }

  /// What the operator allows at a host.
  func allowance(of host: Int) -> HostAllowance {
    rules.isEmpty ? .standard : rules.allowance(ofHost: names.name(of: host))
  }

  /// Records that a download begins its request, or that it makes none because another does.
  /// - Parameter time: When it begins its request; nil when it makes none.
  func downloadBegan(_ id: PhotoRecord.ID, at time: Int?) {
    guard let job = jobs[id.run], let entry = job[started: id.position], entry.isDownloading else { return }
    job[started: id.position]?.hasBegun = true
    hosts.downloadBegan(host: entry.host, at: time, isRepeated: entry.hasBegun)
  }

  /// Records that a download is too slow: its host may have room for another.
  func downloadIsSlow(_ id: PhotoRecord.ID) {
    guard let job = jobs[id.run], let entry = job[started: id.position], entry.isDownloading, !entry.isSlow
    else { return }
    job[started: id.position]?.isSlow = true
    hosts.downloadIsSlow(host: entry.host)
  }

  /// Records that an answer to a download has begun to arrive.
  func hostAnswered(_ id: PhotoRecord.ID) {
    guard let entry = started(id), entry.isDownloading else { return }
    hosts.answerBegan(entry.host)
  }

  /// The hosts in use that have rules, with the patterns of these: the first so many, and how many there are.
  func ruledHosts(limit: Int) -> (hosts: [(name: String, patterns: [String])], total: Int) {
    guard !rules.isEmpty else { return ([], 0) }
    let ruled = hosts.hostsInUse.filter { $0 != HostScheduler.files }
      .map { names.name(of: $0) }
      .map { (name: $0, patterns: rules.patterns(ofHost: $0)) }
      .filter { !$0.patterns.isEmpty }
    return (Array(ruled.prefix(limit)), ruled.count)
  }
}

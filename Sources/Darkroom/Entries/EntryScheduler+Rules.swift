import Model
import Scheduling

/// The rules for hosts that concern the scheduler: the number of downloads at once, and the interval between them.
extension EntryScheduler {
  /// Sets the rules. They apply to hosts in use, too.
  func configure(_ rules: HostRules) {
    self.rules = rules
    hosts.setAllowances(allowance)
  }

  /// The limits of a host.
  func allowance(of host: Int) -> HostAllowance {
    rules.isEmpty ? .standard : rules.allowance(of: names.name(of: host))
  }

  /// Records that a download begins its request, or needs none because another download sends it.
  /// - Parameter time: When the request began; nil when none was needed.
  func downloadBegan(_ id: PhotoRecord.ID, at time: Int?) {
    guard let entry = started(id), entry.isDownloading else { return }
    hosts.downloadBegan(host: entry.host, at: time, isRepeated: entry.hasBegun)
    entry.hasBegun = true
  }

  /// Records that a download is too slow, so that its host may have a free slot.
  func downloadIsSlow(_ id: PhotoRecord.ID) {
    guard let entry = started(id), entry.isDownloading, !entry.isSlow else { return }
    entry.isSlow = true
    hosts.downloadIsSlow(host: entry.host)
  }

  /// Records that an answer to a download has begun to arrive.
  func hostAnswered(_ id: PhotoRecord.ID) {
    guard let entry = started(id), entry.isDownloading else { return }
    hosts.answerBegan(entry.host)
  }

  /// The hosts in use that have rules, with their patterns, at most `limit` of them, and their total number.
  func ruledHosts(limit: Int) -> (hosts: [(name: String, patterns: [String])], total: Int) {
    guard !rules.isEmpty else { return ([], 0) }
    let ruled = hosts.hostsInUse.filter { $0 != HostScheduler.files }
      .map { names.name(of: $0) }
      .map { (name: $0, patterns: rules.patterns(of: $0)) }
      .filter { !$0.patterns.isEmpty }
    return (Array(ruled.prefix(limit)), ruled.count)
  }
}

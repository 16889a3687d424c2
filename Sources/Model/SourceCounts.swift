/// Counts, in bounded memory, how many different URLs each source has among a job's rows with a result. The report
/// warns when a count reaches a threshold. Counts may be too high: sources may share a counter, and a URL is recognized
/// only when it follows itself.
package final class SourceCounts: @unchecked Sendable {  // it has one owner at a time
  /// The number of different requests for the same source above which the report warns: 5, and in jobs of more than 50
  /// 000 entries one in 10 000.
  package let threshold: Int

  /// The counters: a power of two, four times the number of entries or more, so that sources seldom share one, but at most 1 Mi;
  /// empty for a job that has fewer entries than the threshold.
  private var counters: [UInt16]

  /// The hash of the URL that each counter counted last.
  private var urls: [UInt32]

  /// Whether the count of any source may have reached the threshold.
  package private(set) var isAnyFrequent = false

  /// - Parameter total: The number of entries of the job.
  package init(total: Int) {
    threshold = max(5, total / 10_000)
    var count = total < threshold ? 0 : 64
    while count < 4 * total, count > 0, count < 1 << 20 { count *= 2 }
    (counters, urls) = (Array(repeating: 0, count: count), Array(repeating: 0, count: count))
  }

  package func add(_ row: ReportRow) {
    guard !counters.isEmpty, row.state == .filtered, let source = row.source else { return }
    add(source.sha256, url: row.url)
  }

  /// Adds a merged row, without parsing it. Equal requests are known by the one that was sent for all.
  /// - Parameter text: As for `ReportRow.sourceSHA256`.
  package func add(_ text: String) {
    guard !counters.isEmpty, !ReportRow.isCoalesced(text), let sha256 = ReportRow.sourceSHA256(ofFiltered: text),
      let url = ReportRow.url(text)
    else { return }
    add(sha256, url: url)
  }

  private func add(_ sha256: String, url text: String) {
    let index = index(of: sha256)
    let url = UInt32(truncatingIfNeeded: text.hashValue)
    guard counters[index] == 0 || urls[index] != url else { return }
    urls[index] = url
    counters[index] += counters[index] == .max ? 0 : 1
    if isFrequent(index) { isAnyFrequent = true }
  }

  /// Whether the count of a source may have reached the threshold.
  package func isFrequent(_ sha256: some StringProtocol) -> Bool { !counters.isEmpty && isFrequent(index(of: sha256)) }

  private func isFrequent(_ index: Int) -> Bool { Int(counters[index]) >= min(threshold, Int(UInt16.max)) }

  /// The index of a source's counter: the first 32 bits of its SHA-256, modulo the number of counters.
  private func index(of sha256: some StringProtocol) -> Int {
    var bits = 0
    for digit in sha256.utf8.prefix(8) { bits = bits << 4 | Int(digit & 0xf) + (digit >= 0x61 ? 9 : 0) }
    return bits & (counters.count - 1)
  }
}

/// Counts, in bounded memory, for how many URLs each source occurs among the rows of a job that have a result, to tell
/// whether that is so often that the report warns of it. Different sources may share a counter, and only a URL that follows
/// itself is known to be the same, so that it may count too many.
package final class SourceCounts: @unchecked Sendable {  // it has one owner at a time
  /// How many different requests with the same source are doubtful: 5, and in jobs of more than 50 000 entries one in
  /// 10 000.
  package let threshold: Int

  /// A power of two of them, at most 1 Mi; none for a job that cannot have so many requests.
  private var counters: [UInt16]

  /// The hash value of the URL that each counter has counted last.
  private var urls: [UInt32]

  /// Whether a source may have occurred that often.
  package private(set) var isAnyFrequent = false

  /// - Parameter total: How many entries the job has.
  package init(total: Int) {
    threshold = max(5, total / 10_000)
    var count = total < threshold ? 0 : 64
    while count < total, count > 0, count < 1 << 20 { count *= 2 }
    (counters, urls) = (Array(repeating: 0, count: count), Array(repeating: 0, count: count))
  }

  package func add(_ row: ReportRow) {
    guard !counters.isEmpty, row.state == .filtered, let source = row.source else { return }
    let place = place(of: source.sha256)
    let url = UInt32(truncatingIfNeeded: row.url.hashValue)
    guard counters[place] == 0 || urls[place] != url else { return }
    urls[place] = url
    counters[place] += counters[place] == .max ? 0 : 1
    if isFrequent(place) { isAnyFrequent = true }
  }

  /// Whether a source may have occurred so often that it is doubtful.
  package func isFrequent(_ sha256: some StringProtocol) -> Bool { !counters.isEmpty && isFrequent(place(of: sha256)) }

  private func isFrequent(_ place: Int) -> Bool { Int(counters[place]) >= min(threshold, Int(UInt16.max)) }

  /// The counter of a source: the first 32 bits of its SHA-256, modulo the number of counters.
  private func place(of sha256: some StringProtocol) -> Int {
    var bits = 0
    for digit in sha256.utf8.prefix(8) { bits = bits << 4 | Int(digit & 0xf) + (digit >= 0x61 ? 9 : 0) }
    return bits & (counters.count - 1)
  }
}

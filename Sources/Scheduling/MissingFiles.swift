/// When a file that is missing from a folder counts as removed: it is missing at two scans in a row, and for as long as
/// files are given to settle. A scan that fails tells nothing, and begins it anew.
package struct MissingFiles: Sendable {
  /// Since which scan each file has been missing, in seconds.
  private var since: [Int: Double] = [:]

  package init() {}

  /// Whether the last scan found everything that it looked for.
  package var isEmpty: Bool { since.isEmpty }

  /// Takes in a scan that found everything that is there.
  /// - Parameters:
  ///   - missing: The files that it did not find, by numbers.
  ///   - now: In seconds, of any clock.
  ///   - time: How long a file must be missing, in seconds.
  /// - Returns: Those that count as removed.
  package mutating func update(_ missing: Set<Int>, now: Double, time: Double) -> Set<Int> {
    let known = since.filter { missing.contains($0.key) }
    since = known
    for file in missing where known[file] == nil { since[file] = now }
    return Set(known.filter { now - $0.value >= time }.keys)
  }

  /// Takes in that a scan failed, or looked at another folder.
  package mutating func scanFailed() { since = [:] }
}

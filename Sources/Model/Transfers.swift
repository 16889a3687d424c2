import Foundation
import JSON
import Transfer

/// The requests that a run sent to servers, including those of failed tries.
package struct Transfers: Sendable, Equatable, Codable {
  /// The most hosts that are listed. Requests to further ones count in the total only.
  static let hostLimit = 100

  package struct Counts: Sendable, Equatable, Codable {
    /// Requests that were sent, redirects included.
    package var requests = 0
    /// Requests of tries after the first.
    package var retries = 0
    /// Bytes of bodies.
    package var bytes = 0
    /// Requests over an existing connection.
    package var connections_reused = 0

    package init(requests: Int = 0, retries: Int = 0, bytes: Int = 0, connections_reused: Int = 0) {
      self.requests = requests
      self.retries = retries
      self.bytes = bytes
      self.connections_reused = connections_reused
    }

    fileprivate mutating func add(_ other: Self) {
      requests += other.requests
      retries += other.retries
      bytes += other.bytes
      connections_reused += other.connections_reused
    }

    fileprivate var members: [JSONValue.Member] {
      [
        .init("requests", .integer(requests)), .init("retries", .integer(retries)), .init("bytes", .integer(bytes)),
        .init("connections_reused", .integer(connections_reused)),
      ]
    }
  }

  package struct Host: Sendable, Equatable, Codable {
    package let host: String
    package fileprivate(set) var counts = Counts()
    package fileprivate(set) var failures: [String: Int] = [:]
    /// How often the host was put on hold.
    package fileprivate(set) var holds = 0
    fileprivate var firstByte = MedianTime()

    /// The median time to the first byte in milliseconds, at most 4.5 % off; nil when the host never answered.
    package var firstByteMedian: Double? { firstByte.milliseconds }

    fileprivate init(host: String) { self.host = host }

    fileprivate var json: JSONValue {
      var members = [JSONValue.Member("host", .string(host))] + counts.members
      if !failures.isEmpty {
        let counts = failures.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .integer($0.value)) }
        members.append(.init("failures", .object(counts)))
      }
      if holds > 0 { members.append(.init("holds", .integer(holds))) }
      if let median = firstByteMedian { members.append(.init("first_byte_median_ms", .number(median))) }
      return .object(members)
    }

    private enum Key: CodingKey { case host, failures, holds, first_byte_median_ms }

    package init(from decoder: any Decoder) throws {
      counts = try Transfers.Counts(from: decoder)
      let container = try decoder.container(keyedBy: Key.self)
      host = try container.decode(String.self, forKey: .host)
      failures = try container.decodeIfPresent([String: Int].self, forKey: .failures) ?? [:]
      holds = try container.decodeIfPresent(Int.self, forKey: .holds) ?? 0
      firstByte = MedianTime(milliseconds: try container.decodeIfPresent(Double.self, forKey: .first_byte_median_ms))
    }

    package func encode(to encoder: any Encoder) throws {
      try counts.encode(to: encoder)
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(host, forKey: .host)
      if !failures.isEmpty { try container.encode(failures, forKey: .failures) }
      if holds > 0 { try container.encode(holds, forKey: .holds) }
      try container.encodeIfPresent(firstByteMedian, forKey: .first_byte_median_ms)
    }
  }

  package private(set) var total = Counts()

  /// The hosts in the order of their first request, including those to which no request could be sent.
  package private(set) var hosts: [Host] = []

  package init() {}

  /// Adds the requests sent to a host.
  /// - Parameters:
  ///   - failure: Why the transfer failed; nil when it succeeded.
  ///   - isHeld: Whether it put the host on hold.
  ///   - firstByte: The time to the first byte of the answer, in seconds; nil without an answer.
  package mutating func add(
    _ counts: Counts, of host: String, failure: TransferError.Code? = nil, isHeld: Bool = false,
    firstByte: Double? = nil
  ) {
    guard counts.requests > 0 || failure != nil else { return }
    total.add(counts)
    guard let index = index(of: host) else { return }
    hosts[index].counts.add(counts)
    if let failure { hosts[index].failures[failure.rawValue, default: 0] += 1 }
    if isHeld { hosts[index].holds += 1 }
    if let firstByte { hosts[index].firstByte.add(milliseconds: firstByte * 1000) }
  }

  /// The index of a host; nil when the limit is reached.
  private mutating func index(of host: String) -> Int? {
    if let index = hosts.firstIndex(where: { $0.host == host }) { return index }
    guard hosts.count < Self.hostLimit else { return nil }
    hosts.append(Host(host: host))
    return hosts.count - 1
  }

  /// The totals as reports and events show them; nil when no request was needed.
  package var json: JSONValue? {
    guard total.requests > 0 || !hosts.isEmpty else { return nil }
    return .object(total.members + [.init("hosts", .array(hosts.map(\.json)))])
  }
}

// The counts are encoded beside `host` and `hosts`, without a key of their own.
extension Transfers {
  private enum Key: CodingKey { case hosts }

  package init(from decoder: any Decoder) throws {
    total = try Counts(from: decoder)
    hosts = try decoder.container(keyedBy: Key.self).decode([Host].self, forKey: .hosts)
  }

  package func encode(to encoder: any Encoder) throws {
    try total.encode(to: encoder)
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(hosts, forKey: .hosts)
  }
}

/// The median of durations, from a histogram of 192 ranges between 0.1 ms and 28 minutes. A range is an eighth of a
/// power of two wide, so that the error is at most 4.5 %. Durations outside count in the first or the last range.
struct MedianTime: Sendable, Equatable {
  private static let shortest = 0.1
  private static let rangesPerDoubling = 8.0
  private static let ranges = 192

  /// The counts by range; empty before the first duration.
  private var counts: [UInt32] = []
  private var total = 0

  /// A median that was computed before, when its durations are not known.
  private var known: Double?

  init() {}

  /// Creates a median that was computed before.
  init(milliseconds: Double?) { known = milliseconds }

  mutating func add(milliseconds: Double) {
    if counts.isEmpty { counts = Array(repeating: 0, count: Self.ranges) }
    let range = log2(max(milliseconds, Self.shortest) / Self.shortest) * Self.rangesPerDoubling
    counts[min(Int(range), Self.ranges - 1)] += 1
    total += 1
  }

  /// The median in milliseconds, to a tenth; nil without durations.
  var milliseconds: Double? {
    guard total > 0 else { return known }
    var before = 0
    for (range, count) in counts.enumerated() {
      before += Int(count)
      guard before > (total - 1) / 2 else { continue }
      let middle = Self.shortest * exp2((Double(range) + 0.5) / Self.rangesPerDoubling)
      return (middle * 10).rounded() / 10
    }
    return known
  }

  static func == (a: MedianTime, b: MedianTime) -> Bool { a.milliseconds == b.milliseconds }
}

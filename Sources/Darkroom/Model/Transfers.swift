import JSON

/// What a job asked of servers since the program was last started, tries that failed included.
package struct Transfers: Sendable, Equatable, Codable {
  /// More hosts than this are in the total only.
  static let hostLimit = 100

  package struct Counts: Sendable, Equatable, Codable {
    /// Requests that were sent, redirects included.
    package var requests = 0
    /// Those of a try after the first.
    package var retries = 0
    /// Of bodies.
    package var bytes = 0
    /// Those over a connection that was open already.
    package var connections_reused = 0
  }

  package struct Host: Sendable, Equatable, Codable {
    package let host: String
    package fileprivate(set) var counts: Counts
  }

  package private(set) var total = Counts()

  /// In the order in which they were first asked.
  package private(set) var hosts: [Host] = []

  package init() {}

  /// Adds what was asked of a host.
  mutating func add(_ counts: Counts, of host: String) {
    total.add(counts)
    if let place = hosts.firstIndex(where: { $0.host == host }) {
      hosts[place].counts.add(counts)
    } else if hosts.count < Self.hostLimit {
      hosts.append(Host(host: host, counts: counts))
    }
  }
}

extension Transfers {
  /// The totals as reports and events have them; nil when no server was asked.
  package var json: JSONValue? {
    guard total.requests > 0 else { return nil }
    let hosts = hosts.map { JSONValue.object([.init("host", .string($0.host))] + $0.counts.members) }
    return .object(total.members + [.init("hosts", .array(hosts))])
  }
}

extension Transfers.Counts {
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

// The counts stand beside `host` and `hosts`, not beneath a key of their own.
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

extension Transfers.Host {
  private enum Key: CodingKey { case host }

  package init(from decoder: any Decoder) throws {
    counts = try Transfers.Counts(from: decoder)
    host = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .host)
  }

  package func encode(to encoder: any Encoder) throws {
    try counts.encode(to: encoder)
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(host, forKey: .host)
  }
}

import JSON

/// `plan.json`: how a manifest was divided into shards.
package struct ShardPlan: Sendable, Equatable {
  /// The version of the file's shape.
  static let version = 1

  static let file = "plan.json"

  /// The member of an entry of a shard that has the number of its first row in the whole manifest, from 0.
  static let rowField = "_row"

  /// A shard: one of the manifests into which the manifest was divided.
  package struct Shard: Sendable, Equatable {
    package var entries = 0

    /// The results to make: an entry with variants has several.
    package var rows = 0
  }

  /// A host that several shards share, each with a part of its limit.
  package struct SharedHost: Sendable, Equatable {
    package let host: String
    package let shares: [Share]

    /// How many downloads from the host at once a shard may have.
    package struct Share: Sendable, Equatable {
      package let shard: Int
      package let downloads: Int
    }
  }

  package let job: String

  /// The manifest that was divided, without folders, its format, and the SHA-256 of its bytes.
  package let manifest: String
  package let format: String
  package let sha256: String

  /// The limit of downloads at once from one host, in all shards together.
  package let perHost: Int

  package let hosts: Int
  package internal(set) var shards: [Shard]
  package let shared: [SharedHost]

  package var entries: Int { shards.reduce(0) { $0 + $1.entries } }
  package var rows: Int { shards.reduce(0) { $0 + $1.rows } }

  package var json: JSONValue {
    .object([
      "version": .integer(Self.version), "job": .string(job),
      "manifest": .object(["file": .string(manifest), "format": .string(format), "sha256": .string(sha256)]),
      "entries": .integer(entries), "rows": .integer(rows), "hosts": .integer(hosts), "per_host": .integer(perHost),
      "shards": .array(
        shards.enumerated().map { number, shard in
          .object(["shard": .integer(number), "entries": .integer(shard.entries), "rows": .integer(shard.rows)])
        }),
      "shared_hosts": .array(
        shared.map { host in
          .object([
            "host": .string(host.host),
            "shards": .array(
              host.shares.map { .object(["shard": .integer($0.shard), "downloads": .integer($0.downloads)]) }),
          ])
        }),
    ])
  }
}

extension ShardPlan.SharedHost {
  /// - Parameter shards: The shard of each download at once.
  init(host: String, shardsOfDownloads shards: [Int]) {
    let counts = Dictionary(shards.map { ($0, 1) }, uniquingKeysWith: +)
    self.init(host: host, shares: counts.sorted { $0.key < $1.key }.map { Share(shard: $0.key, downloads: $0.value) })
  }
}

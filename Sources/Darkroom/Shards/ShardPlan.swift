import JSON
import Manifests
import System

/// `plan.json`: how a manifest was divided into shards.
package struct ShardPlan: Sendable, Equatable {
  /// The version of the file's shape. In plans of version 1 hosts have no scheme.
  static let version = 2

  static let file = "plan.json"

  /// The member of an entry of a shard that has the number of its first row in the whole manifest, from 0.
  static let rowField = "_row"

  /// What stays together in one shard, unless it is larger than a shard.
  package enum Grouping: String, Sendable, CaseIterable {
    /// The entries of a host and port.
    case host
    /// The entries of all hosts of a registrable domain, see `PublicSuffixList`.
    case domain
  }

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

  package let grouping: Grouping

  /// The limit of downloads at once from one host, in all shards together.
  package let perHost: Int

  package let hosts: Int
  package internal(set) var shards: [Shard]
  package let shared: [SharedHost]

  /// The warnings about the manifest that was divided, as in a report. Default: none, as in plans of earlier versions.
  package internal(set) var warnings: [JSONValue] = []

  package var entries: Int { shards.reduce(0) { $0 + $1.entries } }
  package var rows: Int { shards.reduce(0) { $0 + $1.rows } }

  package var json: JSONValue {
    .object([
      "version": .integer(Self.version), "job": .string(job),
      "manifest": .object(["file": .string(manifest), "format": .string(format), "sha256": .string(sha256)]),
      "entries": .integer(entries), "rows": .integer(rows), "hosts": .integer(hosts), "by": .string(grouping.rawValue),
      "per_host": .integer(perHost),
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
      "warnings": warnings.isEmpty ? nil : .array(warnings),
    ])
  }
}

extension ShardPlan {
  /// - Returns: nil for JSON of another version, or that is no plan.
  init?(_ json: JSONValue) {
    guard let version = json["version"]?.integer, 1...Self.version ~= version, let job = json["job"]?.string,
      ManifestFileName(job + ".jsonl")?.job == job, !job.has("/"), !job.begins(with: "."),
      let file = json["manifest"]?["file"]?.string, let format = json["manifest"]?["format"]?.string,
      let sha256 = json["manifest"]?["sha256"]?.string,
      let grouping = json["by"]?.string.flatMap(Grouping.init), let perHost = json["per_host"]?.integer, perHost > 0,
      let hosts = json["hosts"]?.integer, case .array(let shards)? = json["shards"], !shards.isEmpty,
      case .array(let shared)? = json["shared_hosts"]
    else { return nil }
    self.init(
      job: job, manifest: file, format: format, sha256: sha256, grouping: grouping, perHost: perHost, hosts: hosts,
      shards: shards.compactMap(Shard.init), shared: shared.compactMap(SharedHost.init))
    if case .array(let warnings)? = json["warnings"] { self.warnings = warnings }
    let isWhole = self.shards.count == shards.count && self.shared.count == shared.count
    guard isWhole, self.shared.allSatisfy({ $0.shares.allSatisfy { shards.indices.contains($0.shard) } }) else {
      return nil
    }
  }
}

extension ShardPlan.Shard {
  fileprivate init?(_ json: JSONValue) {
    guard let entries = json["entries"]?.integer, let rows = json["rows"]?.integer, rows >= entries, entries >= 0,
      rows <= 1 << 40
    else {
      return nil
    }
    self.init(entries: entries, rows: rows)
  }
}

extension ShardPlan.SharedHost {
  fileprivate init?(_ json: JSONValue) {
    guard let host = json["host"]?.string, case .array(let shares)? = json["shards"] else { return nil }
    self.init(host: host, shares: shares.compactMap(Share.init))
    guard self.shares.count == shares.count else { return nil }
  }

  /// - Parameter shards: The shard of each download at once.
  init(host: String, shardsOfDownloads shards: [Int]) {
    let counts = Dictionary(shards.map { ($0, 1) }, uniquingKeysWith: +)
    self.init(host: host, shares: counts.sorted { $0.key < $1.key }.map { Share(shard: $0.key, downloads: $0.value) })
  }
}

extension ShardPlan.SharedHost.Share {
  /// As `--per-host` limits them.
  private static let possibleDownloads = 1...1024

  fileprivate init?(_ json: JSONValue) {
    guard let shard = json["shard"]?.integer, let downloads = json["downloads"]?.integer,
      Self.possibleDownloads.contains(downloads)
    else { return nil }
    self.init(shard: shard, downloads: downloads)
  }
}

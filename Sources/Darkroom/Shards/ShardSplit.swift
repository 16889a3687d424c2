import Delivery
import Foundation
import Glibc
import JobIndex
import JSON
import Manifests
import Model
import Planning
import System

/// Divides a manifest into shards: manifests of the same job that separate processes can do, on one machine or several.
///
/// A shard is a folder `DIR/K` with `JOB.jsonl`, K from 0. `DIR/plan.json` says how the manifest was divided. The folder appears when
/// all of it is written and synced, see `PartFolder`.
package struct ShardSplit {
  package enum Outcome {
    case divided(ShardPlan, warnings: [ManifestWarning])
    /// The manifest has problems.
    case rejected(ManifestCheck.Result)
  }

  private let configuration: Configuration
  private let count: Int
  private let grouping: ShardPlan.Grouping

  /// The longest name of a job, in bytes, so that `JOB.jsonl` can be stored.
  private static let nameLimit = 240

  /// - Parameter count: The number of shards, at least 1.
  package init(configuration: Configuration, count: Int, by grouping: ShardPlan.Grouping = .host) {
    (self.configuration, self.count, self.grouping) = (configuration, count, grouping)
  }

  /// - Parameters:
  ///   - path: The manifest.
  ///   - name: The name that determines its format. Default: nil, the path's last component.
  ///   - job: The name of the job. Default: nil, that of the manifest.
  ///   - outbox: The outbox whose earlier reports are read, so that no shard has to. It may be missing. Default: nil, none.
  ///   - target: The folder that is created. An empty one may exist.
  /// - Throws: `StopError`, `SystemError`, `SQLiteError`.
  package func split(
    _ path: String, called name: String? = nil, job: String?, earlierIn outbox: String? = nil, into target: String
  ) throws -> Outcome {
    // Without links, and slashes at its end.
    let target = try Folder.resolvedWhenCreated(target)
    try PartFolder.check(target)
    // Planning says why it cannot be read.
    let source = try? FileState(path)
    let changed = StopError.taken("\(name ?? path) changed while it was split: nothing was kept")
    return try PlannedManifest.with(path, called: name, configuration) { manifest in
      guard manifest.findings.problems.isEmpty else { return .rejected(ManifestCheck.Result(manifest)) }
      guard manifest.isComplete else {
        throw StopError.missing(name ?? path, "its entries are listed by a URL: download that list, and split it")
      }
      var assignment = try ShardAssignment(
        manifest.index, into: count, by: grouping, perHost: configuration.transfer.perHost.connections,
        rules: configuration.hosts)
      var plan = ShardPlan(
        job: job.flatMap { ManifestFileName($0 + ".jsonl")?.job } ?? manifest.name.job, manifest: manifest.file,
        format: manifest.name.format.name, sha256: source?.sha256 ?? "",
        grouping: grouping, perHost: configuration.transfer.perHost.connections, hosts: assignment.hostCount,
        shards: Array(repeating: .init(), count: count), shared: assignment.shared)
      plan.warnings = manifest.findings.warnings.map(\.json)
      guard plan.job.utf8.count <= Self.nameLimit else {
        throw StopError.outbox("the job's name is too long for a file's: give a shorter one with --name")
      }
      let part = try PartFolder(for: target)
      do {
        let mode = try mode(of: manifest, source: name == nil ? source?.sharedMode ?? 0 : 0)
        try write(manifest, &assignment, &plan, to: part.folder, mode: mode)
        try writeEarlierRows(in: outbox, of: plan.job, manifest.index, &assignment, to: part.folder, mode: mode)
      } catch let problem as UnfitEntry {
        var result = ManifestCheck.Result(manifest)
        result.problems = [problem.problem]
        return .rejected(result)
      } catch is ManifestProblem {
        throw changed
      }
      guard source != nil, (try? FileState(path)) == source else { throw changed }
      try part.complete()
      return .divided(plan, warnings: manifest.findings.warnings)
    }
  }

  /// The permissions of the files: nothing is readable by more users than the manifest.
  private func mode(of manifest: PlannedManifest, source: Int) throws -> mode_t {
    let isPrivate = try manifest.findings.hasSecretDefaults || manifest.index.hasSecrets()
    return isPrivate ? 0o600 : mode_t(source & 0o666 | 0o600)
  }

  private func write(
    _ manifest: PlannedManifest, _ assignment: inout ShardAssignment, _ plan: inout ShardPlan, to folder: OpenFolder,
    mode: mode_t
  ) throws {
    for number in 0..<count { _ = try folder.create("\(number)") }
    var lines = ShardLines(folder, name: plan.job + ".jsonl", count: count, mode: mode)
    var entries = ResolvedEntries()
    var position = 0
    try manifest.planner.eachItem { item in
      switch item {
      case .defaults(let value, _): entries.adopt(defaults: value)
      case .entry(let value, let key, let location):
        let (shard, name) = try assignment.shard(of: position, in: manifest.index)
        let entry = entries.entry(
          value, key: key, named: name, after: try manifest.index.finalDependencyNames(of: position),
          notes: [.init(ShardPlan.rowField, .integer(position))])
        let text = entry.text
        if let problem = ResolvedEntries.problem(with: entry, text, named: name, at: location) {
          throw UnfitEntry(problem: problem)
        }
        try lines.append(text, to: shard)
        plan.shards[shard].entries += 1
        plan.shards[shard].rows += value.rowCount
        position += value.rowCount
      case .source, .warning, .unreadable: break
      }
    }
    try lines.finish()
    let file = try folder.create(file: ShardPlan.file, mode: mode)
    try file.write(plan.json.text + "\n")
    try file.sync()
  }

  /// Divides the rows of the job's earlier reports. A shard that finds no file for it, or a later report, reads the reports itself.
  private func writeEarlierRows(
    in outbox: String?, of job: String, _ index: JobIndex, _ assignment: inout ShardAssignment, to folder: OpenFolder,
    mode: mode_t
  ) throws {
    guard let outbox, try FileStatus.exists(outbox) else { return }
    let reports = try EarlierReports(of: job, in: OpenFolder(outbox))
    guard let run = reports.newestRun else { return }
    var lines = ShardLines(folder, name: EarlierRowsFile.name, count: count, mode: mode)
    for shard in 0..<count { try lines.append(EarlierRowsFile.head(run: run), to: shard) }
    try index.prepareNames()
    try reports.eachResult(of: index) { position, row in
      try lines.append(row.json.text, to: assignment.shard(of: position, in: index).shard)
    }
    try lines.finish()
  }
}

/// An entry that is valid in the manifest, and would not be in a shard.
private struct UnfitEntry: Error {
  let problem: ManifestProblem
}

/// What tells whether a file is the same as before.
private struct FileState: Equatable {
  let identity: FileIdentity
  /// Its permissions, for files of the group of this process.
  let sharedMode: Int
  let sha256: String

  init(_ path: String) throws {
    let file = try OpenFile(reading: path)
    let status = try file.status()
    guard status.kind == .file else { throw StopError.missing(path, "it is no file") }
    identity = status.identity
    sharedMode = status.group == Int(getegid()) ? status.mode : status.mode & ~0o070
    sha256 = try MessageDigest.hexDigest(ofDescriptor: file.descriptor, path: path)
  }
}

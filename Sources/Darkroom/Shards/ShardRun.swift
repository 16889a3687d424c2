import Foundation
import Inbox
import Model
import System

/// Does one shard: a run of its manifest whose records are in the shard's folder, and whose pictures go to the outbox that all shards
/// share.
///
/// The state is removed when the shard is complete. It may also vanish with its machine: the next process takes over the rows in the
/// shard's synced `entries.jsonl`.
package struct ShardRun {
  private let shards: ShardFolder
  private let number: Int

  /// That of the run, with its own inbox, outbox and state.
  package let configuration: Configuration

  /// The file in the state folder, and in the shard's, that says which state belongs to the shard's records.
  private static let mark = "state-of-shard"

  /// Creates the folders of the run. The caller has claimed the shard.
  /// - Parameter configuration: That of the command: the inbox and the outbox are those that all shards share; the state is the folder
  ///   for all states, or nil for one beside the shard's records.
  /// - Throws: `StopError`, `SystemError`.
  package init(_ number: Int, of shards: ShardFolder, _ configuration: Configuration, state: String?) throws {
    (self.shards, self.number) = (shards, number)
    var own = configuration
    let records = shards.records(of: number)
    let hidden = try records.openHidden()
    try ShardTimes.begin(in: hidden)
    own.shared = SharedFolders(inbox: configuration.inbox, outbox: configuration.outbox)
    own.outbox = records.path
    own.inbox = records.hidden + "/inbox"
    _ = try hidden.create("inbox", mode: 0o700)
    own.state = Self.state(of: number, shards, in: state)
    own.newFolders = []
    own.gallery = .off
    // They concern the whole job.
    (own.notify, own.exec, own.failEmpty, own.acceptFailures) = (nil, nil, false, nil)
    own.transfer.perHost.connections = min(own.transfer.perHost.connections, shards.plan.perHost)
    for host in shards.plan.shared {
      guard let share = host.shares.first(where: { $0.shard == number }) else { continue }
      let all = host.shares.reduce(0) { $0 + $1.downloads }
      own.hosts.limit(host.host, to: share.downloads, of: all, from: configuration.hosts)
    }
    self.configuration = own
    try Self.matchState(own.state, hidden)
  }

  /// The manifest of the shard, for `Darkroom.run`.
  package var manifest: String { shards.manifest(of: number) }

  /// Removes a state that does not belong to the shard's records: another machine has gone on with them since it was used.
  private static func matchState(_ state: String, _ hidden: OpenFolder) throws {
    let wanted = try? hidden.open(reading: mark).readAll()
    let found = try? OpenFile(reading: state + "/" + mark).readAll()
    if let wanted, wanted == found { return }
    do {
      try FileManager.default.removeItem(atPath: state)
    } catch CocoaError.fileNoSuchFile {
    } catch CocoaError.fileWriteNoPermission {
      throw StopError.outbox("\(state): the state of another process is in the way, and cannot be removed")
    }
    try Folder.createDurably(state, mode: 0o700)
    let text = RunID.make() + "\n"
    try OpenFolder(state).replace(mark, with: text, mode: 0o600)
    try hidden.replace(mark, with: text, mode: 0o600)
  }

  /// Requests that the run is cancelled, if all shards are. Call it now and then.
  package func passOnCancelling() {
    guard shards.isCancelled, let inbox = try? OpenFolder(configuration.inbox),
      let status = try? StatusReader(configuration: configuration).read(countsRows: false)
    else { return }
    for job in status.jobs {
      if let file = try? inbox.create(file: CancelRequest.name(job.run_id), mode: 0o600) { try? file.sync() }
    }
  }

  /// The path of a shard's state.
  private static func state(of number: Int, _ shards: ShardFolder, in folder: String?) -> String {
    folder.map { "\($0)/shards/\(MessageDigest.hexDigest(of: shards.path).prefix(16))-\(number)" }
      ?? shards.records(of: number).hidden + "/state"
  }

  /// Removes the state and the staging folders that are left of a shard which is complete.
  static func removeState(ofComplete number: Int, _ shards: ShardFolder, _ folder: String?) {
    for path in [state(of: number, shards, in: folder), shards.records(of: number).hidden + "/staging"] {
      try? FileManager.default.removeItem(atPath: path)
    }
  }
}

import Foundation
import Glibc
import JSON
import Model
import Synchronization
import System

/// The right of a process to do a shard: the file `DIR/K/claim-N` with the greatest `N`.
///
/// Creating a file that does not exist is atomic on every file system, so that of several processes one gets the next number. The
/// holder sets the file's time now and then; when it has not done so for a while, or has died on this machine, another process takes
/// the next number. The times are those of the file server, whatever the clocks of the machines.
///
/// A claim is advice: what keeps two processes from doing the same shard is the lock of its records (`InstanceLock`), where the file
/// system has locks for several machines.
package final class ShardClaim: Sendable {
  /// What a claim that somebody else has looks like.
  package struct Held: Sendable, Equatable {
    package let number: Int

    /// The time of the last renewal, in seconds since 1970, by the clock of the file server.
    package let renewed: Double

    /// The machine's name and the process, `node7 (process 1234)`.
    package let holder: String
  }

  package enum Outcome: Sendable {
    case taken(ShardClaim)
    case held(Held)
  }

  private static let prefix = "claim-"

  private let folder: OpenFolder
  private let number: Int
  private let identity: FileIdentity

  /// When the claim was last renewed, as `Clock.monotonicSeconds`.
  private let renewed = Mutex(Clock.monotonicSeconds)

  private init(_ folder: OpenFolder, _ number: Int, _ identity: FileIdentity) {
    (self.folder, self.number, self.identity) = (folder, number, identity)
  }

  private static func name(_ number: Int) -> String { prefix + "\(number)" }

  // MARK: Taking

  /// Takes a shard that nobody does.
  /// - Parameters:
  ///   - path: The shard's folder.
  ///   - timeout: After how many seconds without a renewal a claim is given up.
  /// - Throws: `SystemError`.
  package static func take(_ path: String, timeout: Double) throws(SystemError) -> Outcome {
    let folder = try OpenFolder(path)
    while true {
      let last = try latest(in: folder)
      if let last {
        let claim = Content(try? folder.open(reading: name(last.number)))
        let held = Held(number: last.number, renewed: last.renewed, holder: claim.holder)
        if !claim.isReleased, !claim.isDead, try serverTime(in: folder) - last.renewed < timeout { return .held(held) }
      }
      let number = (last?.number ?? 0) + 1
      let file: OpenFile
      do throws(SystemError) {
        file = try folder.create(file: name(number), mode: 0o644)
      } catch  where error.code == EEXIST {
        continue
      }
      try file.write(Content().text)
      try file.sync()
      // Another process may have got a later number, and removed the earlier ones, since this one has looked.
      guard try latest(in: folder)?.number == number else {
        try? folder.remove(name(number))
        continue
      }
      try? removeOlder(than: number, in: folder)
      return .taken(ShardClaim(folder, number, try file.status().identity))
    }
  }

  /// The claim of a shard; nil when nobody has claimed it, or it was given back.
  package static func current(_ path: String) throws(SystemError) -> Held? {
    let folder = try OpenFolder(path)
    guard let last = try latest(in: folder) else { return nil }
    let content = Content(try? folder.open(reading: name(last.number)))
    if content.isReleased || content.isDead { return nil }
    return Held(number: last.number, renewed: last.renewed, holder: content.holder)
  }

  private static func latest(in folder: OpenFolder) throws(SystemError) -> (number: Int, renewed: Double)? {
    let numbers = try numbers(in: folder)
    guard let number = numbers.max(), let status = try folder.status(of: name(number)) else { return nil }
    return (number, status.identity.modified.sinceEpoch)
  }

  private static func numbers(in folder: OpenFolder) throws(SystemError) -> [Int] {
    try folder.names().compactMap(\.text).filter { $0.hasPrefix(prefix) }.compactMap { Int($0.dropFirst(prefix.count)) }
  }

  private static func removeOlder(than number: Int, in folder: OpenFolder) throws(SystemError) {
    for older in try numbers(in: folder) where older < number { try folder.remove(name(older)) }
  }

  /// The time of the file server, which may differ from that of this machine, in seconds since 1970.
  package static func serverTime(in folder: OpenFolder) throws(SystemError) -> Double {
    let name = ".time-" + RunID.make()
    let file = try folder.create(file: name, mode: 0o600)
    defer { try? folder.remove(name) }
    return try file.status().identity.modified.sinceEpoch
  }

  // MARK: Holding

  /// Sets the time of the claim.
  /// - Parameter timeout: As in `take`.
  /// - Returns: Whether this process still has it: nobody has taken it over, and it was renewed in time.
  package func renew(timeout: Double) -> Bool {
    do throws(SystemError) {
      guard let found = try folder.status(of: Self.name(number)), found.identity.isSameNode(as: identity),
        try Self.numbers(in: folder).max() == number
      else { return false }
      folder.touch(Self.name(number))
      renewed.withLock { $0 = Clock.monotonicSeconds }
      return true
    } catch {
      return error.cause.isOfMachine && Clock.monotonicSeconds - renewed.withLock { $0 } < timeout / 2
    }
  }

  /// Gives the shard back, done or not.
  package func release() {
    guard let file = try? folder.open(updatingExisting: Self.name(number)), let now = try? file.status().identity,
      now.isSameNode(as: identity)
    else { return }
    try? file.replaceContents(with: Content(isReleased: true).text)
  }

  // MARK: The file

  /// What the file says of the holder.
  private struct Content {
    private let json: JSONValue

    /// - Parameter file: nil counts as an empty file, as of a process that has not written it yet.
    init(_ file: OpenFile?) {
      let start = (try? file?.readStart(4096)) ?? []
      json = (try? JSONValue(parsing: String(decoding: start, as: UTF8.self))) ?? .object([])
    }

    init(isReleased: Bool = false) {
      json = .object([
        "host": .string(ProcessInfo.processInfo.hostName), "process": .integer(Int(getpid())),
        "machine": .string(Self.machine), "started": .string(ProcessStart.of(Int(getpid())) ?? ""),
        "released": isReleased ? .bool(true) : nil,
      ])
    }

    var text: String { json.text + "\n" }

    var isReleased: Bool { json["released"] == .bool(true) }

    var holder: String {
      guard let host = json["host"]?.string, let process = json["process"]?.integer else { return "somebody" }
      return "\(host) (process \(process))"
    }

    /// Whether the holder was a process of this machine that has ended. In containers of one machine the same numbers stand for
    /// different processes.
    var isDead: Bool {
      guard json["machine"]?.string == Self.machine, let process = json["process"]?.integer,
        let started = json["started"]?.string, !started.isEmpty
      else { return false }
      return !ProcessStart.isRunning(process, startedAt: started)
    }

    private static let machine =
      ProcessStart.bootID() + " "
      + ((try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")) ?? "")
  }
}

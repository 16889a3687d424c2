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

    /// After how many seconds without a renewal its holder expects to lose it.
    package let timeout: Double

    /// The machine's name and the process, `node7 (process 1234)`.
    package let holder: String
  }

  package enum Outcome: Sendable {
    case taken(ShardClaim)
    /// - Parameter isLocked: Whether the claim is too old or was given back, and only the lock of the records is held.
    case held(Held, isLocked: Bool)
  }

  private static let prefix = "claim-"

  /// The longest time without a renewal that a claim is believed, in seconds: a day.
  private static let longestTimeout = 86_400.0

  private let folder: OpenFolder
  private let number: Int
  private let timeout: Double

  /// The claim, open since it was taken.
  private let file: OpenFile

  /// When the claim was last renewed, as `Clock.monotonicSeconds`.
  private let renewed = Mutex(Clock.monotonicSeconds)

  private init(_ folder: OpenFolder, _ number: Int, _ file: OpenFile, timeout: Double) {
    (self.folder, self.number, self.file, self.timeout) = (folder, number, file, timeout)
  }

  private static func name(_ number: Int) -> String { prefix + "\(number)" }

  // MARK: Taking

  /// Takes a shard that nobody does.
  /// - Parameters:
  ///   - path: The shard's folder.
  ///   - timeout: After how many seconds without a renewal a claim is given up, unless its holder has named a longer time.
  ///   - isLocked: Whether a process has the lock of the shard's records: then it lives, however old its claim is. Default: no.
  ///   - now: The time of the file server, as `serverTime`. Called only when somebody has a claim.
  /// - Throws: `SystemError`, also for a claim that is followed by no number.
  package static func take(
    _ path: String, timeout: Double, isLocked: () throws(SystemError) -> Bool = { () throws(SystemError) in false },
    now: () throws(SystemError) -> Double
  ) throws(SystemError) -> Outcome {
    let folder = try OpenFolder(path)
    while true {
      let last = try latest(in: folder)
      if let last {
        let isFree = last.content.isReleased || last.content.isDead
        var age = Double.infinity
        if !isFree { age = try now() - last.held.renewed }
        if age < max(timeout, last.content.timeout) { return .held(last.held, isLocked: false) }
        if try isLocked() { return .held(last.held, isLocked: true) }
      }
      let number = (last?.held.number ?? 0) + 1
      guard number < Int.max else {
        let why = "no claim can follow its number; remove it, if no process does the shard"
        throw SystemError(why, "\(path)/\(name(number - 1))", code: EEXIST)
      }
      let file: OpenFile
      do throws(SystemError) {
        file = try folder.create(file: name(number), mode: 0o644)
      } catch  where error.code == EEXIST {
        continue
      }
      try file.write(Content(timeout: timeout).text)
      try file.sync()
      // Another process may have got a later number, and removed the earlier ones, since this one has looked.
      guard try numbers(in: folder).max() == number else {
        try? folder.remove(name(number))
        continue
      }
      try? removeOlder(than: number, in: folder)
      return .taken(ShardClaim(folder, number, file, timeout: timeout))
    }
  }

  /// The claim of a shard; nil when nobody has claimed it, or it was given back.
  package static func current(_ path: String) throws(SystemError) -> Held? {
    guard let last = try latest(in: OpenFolder(path)), !last.content.isReleased, !last.content.isDead else {
      return nil
    }
    return last.held
  }

  /// The claim that holds, or did. Its time is that of the open file, which a file server is asked for.
  private static func latest(in folder: OpenFolder) throws(SystemError) -> (held: Held, content: Content)? {
    guard let number = try numbers(in: folder).max() else { return nil }
    do throws(SystemError) {
      let file = try folder.open(reading: name(number))
      let content = Content(file)
      let held = Held(
        number: number, renewed: try file.status().identity.modified.sinceEpoch, timeout: content.timeout,
        holder: content.holder)
      return (held, content)
    } catch  where error.cause == .missing || error.code == ESTALE {
      return nil
    }
  }

  private static func numbers(in folder: OpenFolder) throws(SystemError) -> [Int] {
    try folder.names().compactMap(\.text).filter { $0.hasPrefix(prefix) }.compactMap { text in
      // As `name(_:)` writes it, and with a next one.
      Int(text.dropFirst(prefix.count)).flatMap { $0 > 0 && $0 < Int.max && name($0) == text ? $0 : nil }
    }
  }

  private static func removeOlder(than number: Int, in folder: OpenFolder) throws(SystemError) {
    for older in try numbers(in: folder) where older < number { try folder.remove(name(older)) }
  }

  /// The time of the file server, which may differ from that of this machine, in seconds since 1970.
  package static func serverTime(in folder: OpenFolder) throws(SystemError) -> Double {
    let file = try folder.open(updating: ".time", mode: 0o644)
    try touch(file)
    return try file.status().identity.modified.sinceEpoch
  }

  /// Sets the time of a file to that of the file server.
  private static func touch(_ file: OpenFile) throws(SystemError) {
    guard futimens(file.descriptor, nil) == 0 else { throw SystemError("futimens", file.path) }
  }

  // MARK: Holding

  /// Sets the time of the claim.
  /// - Returns: Whether this process still has it: nobody has taken it over, and it was renewed in time.
  package func renew() -> Bool {
    // Another process may be taking it over, although its file is not there yet.
    guard Clock.monotonicSeconds - renewed.withLock({ $0 }) < timeout else { return false }
    do throws(SystemError) {
      guard let found = try folder.status(of: Self.name(number)),
        try found.identity.isSameNode(as: file.status().identity), try Self.numbers(in: folder).max() == number
      else { return false }
      try Self.touch(file)
      renewed.withLock { $0 = Clock.monotonicSeconds }
      return true
    } catch {
      // It was removed on the server, where another process has taken the next number.
      if error.code == ESTALE || error.code == ENOENT { return false }
      return Clock.monotonicSeconds - renewed.withLock { $0 } < timeout / 2
    }
  }

  /// Gives the shard back, done or not.
  package func release() {
    guard let now = try? folder.status(of: Self.name(number))?.identity, let own = try? file.status().identity,
      now.isSameNode(as: own)
    else { return }
    try? file.replaceContents(with: Content(timeout: timeout, isReleased: true).text)
  }

  // MARK: The file

  /// What the file says of the holder.
  private struct Content {
    private let json: JSONValue

    /// - Parameter file: May be empty, when the process has not written it yet.
    init(_ file: OpenFile) {
      let start = (try? file.readStart(4096)) ?? []
      json = (try? JSONValue(parsing: String(decoding: start, as: UTF8.self))) ?? .object([])
    }

    init(timeout: Double, isReleased: Bool = false) {
      json = .object([
        "host": .string(ProcessInfo.processInfo.hostName), "process": .integer(Int(getpid())),
        "timeout": .number(timeout), "machine": .string(Self.machine),
        "started": .string(ProcessStart.of(Int(getpid())) ?? ""),
        "released": isReleased ? .bool(true) : nil,
      ])
    }

    var text: String { json.text + "\n" }

    var isReleased: Bool { json["released"] == .bool(true) }

    var timeout: Double { min(json["timeout"]?.number ?? 0, ShardClaim.longestTimeout) }

    var holder: String {
      guard let host = json["host"]?.string, let process = json["process"]?.integer else { return "somebody" }
      return "\(host) (process \(process))"
    }

    /// Whether the holder was a process of this machine that has ended. In containers of one machine the same numbers stand for
    /// different processes.
    var isDead: Bool {
      guard !ProcessStart.bootID().isEmpty, json["machine"]?.string == Self.machine,
        let process = json["process"]?.integer,
        let started = json["started"]?.string, !started.isEmpty
      else { return false }
      return !ProcessStart.isRunning(process, startedAt: started)
    }

    private static let machine =
      ProcessStart.bootID() + " "
      + ((try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")) ?? "")
  }
}

import Foundation
import Imaging
import Synchronization
import System

/// What is inside a filtration, written down before it begins, so that the next start knows what this process died over.
///
/// A file has a slot for each place of the queue. It is not synced: it is to outlive the process, not the machine. An entry
/// that was inside a filtration at three ends of the program in a row is a suspect, which is filtered while nothing else is;
/// when the program ends over that, too, the entry fails.
final class FiltrationJournal: @unchecked Sendable {  // all state is guarded by `changed`
  /// An entry of a run.
  struct Key: Hashable, Sendable {
    let runID: String
    let position: Int

    /// As the files have it.
    var text: String { "\(runID) \(position)" }

    init(runID: String, position: Int) { (self.runID, self.position) = (runID, position) }

    init?(text: Substring) {
      let words = text.split(separator: " ")
      guard words.count >= 2, let position = Int(words[1]) else { return nil }
      self.init(runID: String(words[0]), position: position)
    }
  }

  /// How many ends of the program make an entry a suspect.
  static let suspectAfter = 3

  private static let slotBytes = 128

  private let slots: OpenFile
  private let changed = NSCondition()
  /// At how many ends of the program entries were inside a filtration.
  private let crashes: [Key: Int]
  private var used: Set<Int> = []
  /// Entries that wait, and those among them that are suspects.
  private var waiting = 0
  private var waitingSuspects = 0
  private var hasSuspect = false

  /// Learns over what an earlier process ended.
  /// - Parameters:
  ///   - folder: Where the files are.
  ///   - runs: Which runs go on. What is known of others is forgotten.
  /// - Throws: `SystemError`.
  init(folder: String, runs: Set<String>) throws {
    let (path, counts) = (folder + "/filtrations", folder + "/suspects")
    slots = try OpenFile(updating: path, mode: 0o600)
    var crashes: [Key: Int] = [:]
    for line in Self.text(of: counts).split(separator: "\n") {
      guard let key = Key(text: line), let count = line.split(separator: " ").dropFirst(2).first.flatMap({ Int($0) })
      else { continue }
      crashes[key] = count
    }
    let inside = Set(Self.text(of: path).split(separator: "\0").compactMap { Key(text: $0) })
    for key in inside { crashes[key, default: 0] += 1 }
    self.crashes = crashes.filter { runs.contains($0.key.runID) }
    // The counts first: an end in between counts twice, and not never.
    if !inside.isEmpty || !crashes.isEmpty {
      let text = self.crashes.map { "\($0.key.text) \($0.value)\n" }.joined()
      try Folder.removeFile(counts + ".new")
      try OpenFile(creating: counts + ".new", mode: 0o600).write(text)
      try Folder.rename(counts + ".new", to: counts)
    }
    try slots.truncate()
  }

  private static func text(of path: String) -> String {
    guard let data = try? OpenFile(reading: path, followingLinks: false).readAll() else { return "" }
    return String(decoding: data, as: UTF8.self)
  }

  /// Whether an entry is filtered alone.
  func isSuspect(_ key: Key) -> Bool { crashes[key, default: 0] >= Self.suspectAfter }

  /// Writes down that an entry is inside a filtration, and waits until it may be: a suspect while others are, others while a
  /// suspect is or waits.
  /// - Returns: Its slot, for `leave`.
  /// - Throws: `decoder-crashed` when the program has ended over it alone; `cancelled`.
  func enter(_ key: Key, isCancelled: () -> Bool = { false }) throws(ImagingError) -> Int {
    let count = crashes[key, default: 0]
    guard count <= Self.suspectAfter else {
      throw ImagingError(
        code: .decoderCrashed, message: "the program ended \(count) times while it filtered this picture")
    }
    let slot = try takeSlot(isSuspect: count == Self.suspectAfter, isCancelled: isCancelled)
    let text = Array(key.text.utf8.prefix(Self.slotBytes - 1)) + [0]
    // One that cannot be written is no reason not to filter.
    _ = text.withUnsafeBytes { pwrite(slots.descriptor, $0.baseAddress, $0.count, off_t(slot * Self.slotBytes)) }
    return slot
  }

  /// Writes down that an entry is not inside a filtration any more.
  func leave(_ slot: Int) {
    var empty: UInt8 = 0
    pwrite(slots.descriptor, &empty, 1, off_t(slot * Self.slotBytes))
    changed.lock()
    defer { changed.unlock() }
    used.remove(slot)
    // A suspect is inside alone.
    hasSuspect = false
    if waiting > 0 { changed.broadcast() }
  }

  private func takeSlot(isSuspect: Bool, isCancelled: () -> Bool) throws(ImagingError) -> Int {
    changed.lock()
    defer { changed.unlock() }
    if isSuspect { waitingSuspects += 1 }
    waiting += 1
    defer {
      waiting -= 1
      if isSuspect { waitingSuspects -= 1 }
    }
    while hasSuspect || (isSuspect ? !used.isEmpty : waitingSuspects > 0) {
      if isCancelled() {
        changed.broadcast()
        throw .cancelled
      }
      _ = changed.wait(until: Date(timeIntervalSinceNow: 0.1))
    }
    hasSuspect = isSuspect
    let slot = (0...).first { !used.contains($0) } ?? 0
    used.insert(slot)
    return slot
  }
}

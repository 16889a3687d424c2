import Foundation
import Imaging
import Model
import System

/// What is inside a filtration, written down before it begins, so that the next start knows what this process died over.
///
/// A file has a slot for each place of the queue. It is not synced: it is to outlive the process, not the machine. An entry
/// that was inside a filtration at three ends of the program, and got through none in between, is a suspect: it is filtered
/// while nothing else is. When the program ends over that, too, the entry fails.
package final class FiltrationJournal: @unchecked Sendable {  // all state is guarded by `changed`
  /// An entry of a run.
  struct Key: Hashable, Sendable {
    let runID: String
    let position: Int

    /// As the files have it.
    var text: String { "\(runID) \(position)" }

    init(runID: String, position: Int) { (self.runID, self.position) = (runID, position) }

    init?(text: some StringProtocol) {
      let words = text.split(separator: " ")
      guard words.count >= 2, let position = Int(words[1]) else { return nil }
      self.init(runID: String(words[0]), position: position)
    }
  }

  /// How many ends of the program make an entry a suspect.
  static let suspectAfter = 3

  /// The file with the slots: the first names the process, the others have what is inside.
  static let slotsName = "filtrations"

  /// The file with the counts of ends, and the name of the process whose end was counted last.
  static let countsName = "suspects"

  private static let slotBytes = 128

  /// What comes before the name of a process.
  private static let processPrefix = "process "

  private let folder: OpenFolder
  private let slots: OpenFile
  private let changed = NSCondition()

  /// The counts are written here, one after the other.
  private let writing = DispatchQueue(label: "Suspects")

  /// The process whose end was counted last; nil when none was.
  private let countedProcess: String?

  /// At how many ends of the program entries were inside a filtration since they last got through one.
  private var crashes: [Key: Int]
  private var used: [Int: Key] = [:]

  /// Whether the slots name this process: from the first entry on, so that a start needs no room.
  private var isNamed = false
  /// Entries that wait, and those among them that are suspects.
  private var waiting = 0
  private var waitingSuspects = 0
  private var hasSuspect = false

  /// Learns over what an earlier process ended.
  /// - Parameters:
  ///   - folder: Where the files are.
  ///   - runs: Which runs go on. What is known about others is forgotten.
  /// - Throws: `SystemError`.
  package init(in folder: OpenFolder, runs: Set<String>) throws {
    self.folder = folder
    slots = try folder.open(updating: Self.slotsName, mode: 0o600)
    var (crashes, counted): ([Key: Int], String?) = ([:], nil)
    for line in Self.text(of: Self.countsName, in: folder).split(separator: "\n") {
      let count = line.split(separator: " ").last.flatMap { Int($0) }
      if line.hasPrefix(Self.processPrefix) {
        counted = String(line)
      } else if let key = Key(text: line), let count {
        crashes[key] = count
      }
    }
    let found = Self.slots(in: folder)
    let ended = found.first { $0.hasPrefix(Self.processPrefix) }
    // The program may have ended after it had counted, and before it emptied the slots.
    let inside = ended != nil && ended == counted ? [] : Set(found.compactMap { Key(text: $0) })
    for key in inside { crashes[key, default: 0] += 1 }
    self.crashes = crashes.filter { runs.contains($0.key.runID) }
    countedProcess = ended ?? counted
    if !inside.isEmpty || !crashes.isEmpty { try Self.write(self.crashes, countedProcess, in: folder) }
    try slots.truncate()
  }

  private static func text(of name: String, in folder: OpenFolder) -> String {
    guard let data = try? folder.open(reading: name).readAll() else { return "" }
    return String(decoding: data, as: UTF8.self)
  }

  /// What the slots of an earlier process have.
  private static func slots(in folder: OpenFolder) -> [String] {
    let bytes = Array((try? folder.open(reading: slotsName).readAll()) ?? Data())
    return stride(from: 0, to: bytes.count, by: slotBytes).map { start in
      String(decoding: bytes[start..<min(start + slotBytes, bytes.count)].prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  private static func write(_ crashes: [Key: Int], _ process: String?, in folder: OpenFolder) throws(SystemError) {
    let lines = (process.map { [$0] } ?? []) + crashes.map { "\($0.key.text) \($0.value)" }
    try folder.replace(countsName, with: lines.map { $0 + "\n" }.joined(), mode: 0o600)
  }

  /// Writes a text to a slot. One that cannot be written is no reason not to filter.
  private func write(_ text: String, to slot: Int) {
    let bytes = Array(text.utf8.prefix(Self.slotBytes - 1)) + [0]
    bytes.withUnsafeBytes { bytes in _ = try? slots.write(bytes, at: slot * Self.slotBytes) }
  }

  // MARK: Suspects

  /// Whether an entry is filtered alone.
  func isSuspect(_ key: Key) -> Bool { count(of: key) >= Self.suspectAfter }

  /// The places in its manifest of the entries of a run that are filtered alone, and last.
  package func suspects(of runID: String) -> [Int] {
    changed.lock()
    defer { changed.unlock() }
    return crashes.filter { $0.key.runID == runID && $0.value == Self.suspectAfter }.map(\.key.position).sorted()
  }

  private func count(of key: Key) -> Int {
    changed.lock()
    defer { changed.unlock() }
    return crashes[key, default: 0]
  }

  /// Forgets the ends of the program at which an entry was inside a filtration: it has got through one.
  private func forget(_ key: Key) {
    writing.sync {
      changed.lock()
      crashes[key] = nil
      let crashes = crashes
      changed.unlock()
      // What cannot be written is counted again at most.
      try? Self.write(crashes, countedProcess, in: folder)
    }
  }

  // MARK: Filtrations

  /// Writes down that an entry is inside a filtration, and waits until it may be: a suspect while others are, others while a
  /// suspect is or waits.
  /// - Returns: Its slot, for `leave`.
  /// - Throws: `decoder-crashed` when the program has ended over it alone; `cancelled`.
  func enter(_ key: Key, isCancelled: () -> Bool = { false }) throws(ImagingError) -> Int {
    let count = count(of: key)
    guard count <= Self.suspectAfter else {
      throw ImagingError(
        code: .decoderCrashed, message: "the program ended \(count) times while it filtered this picture")
    }
    let (slot, isFirst) = try takeSlot(for: key, isSuspect: count == Self.suspectAfter, isCancelled: isCancelled)
    if isFirst { write(Self.processPrefix + RunID.make(), to: 0) }
    write(key.text, to: slot)
    return slot
  }

  /// Writes down that an entry is not inside a filtration any more.
  /// - Parameter isThrough: Whether the filtration has ended, in whatever way, and was not cancelled: then the program can
  ///   do it. Default: it has.
  func leave(_ slot: Int, isThrough: Bool = true) {
    write("", to: slot)
    changed.lock()
    let key = used.removeValue(forKey: slot)
    // A suspect is inside alone.
    hasSuspect = false
    let isCounted = key.map { crashes[$0] != nil } ?? false
    if waiting > 0 { changed.broadcast() }
    changed.unlock()
    if let key, isThrough, isCounted { forget(key) }
  }

  /// Records that the program ends because it was told to, or has an error, whatever is inside a filtration: that is not to
  /// blame for it. Any thread may call it.
  package func close() { try? folder.remove(Self.slotsName) }

  private func takeSlot(
    for key: Key, isSuspect: Bool, isCancelled: () -> Bool
  ) throws(ImagingError) -> (slot: Int, isFirst: Bool) {
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
    let slot = (1...).first { used[$0] == nil } ?? 1
    used[slot] = key
    defer { isNamed = true }
    return (slot, !isNamed)
  }
}

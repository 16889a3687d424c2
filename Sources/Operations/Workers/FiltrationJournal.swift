import Foundation
import Imaging
import Model
import System

/// A journal of the entries that are being filtered, and of the manifests that are being read, written before that begins, so that
/// the next start knows which may have crashed the process.
///
/// The file has a slot for each of them. It is not synced, since it only has to outlive the process. An entry that was being filtered at
/// three crashes of the program, without a completed filtration in between, is a suspect: it is filtered while nothing else is. When the
/// program crashes again, the entry fails. The same applies to a manifest, which is then rejected.
package final class FiltrationJournal: @unchecked Sendable {  // all state is guarded by `changed`
  /// An entry of a run, or its manifest.
  struct Key: Hashable, Sendable {
    let runID: String

    /// The entry's position; -1 for the manifest.
    let position: Int

    static func manifest(of runID: String) -> Key { Key(runID: runID, position: -1) }

    /// The text in the files.
    var text: String { "\(runID) \(position)" }

    init(runID: String, position: Int) { (self.runID, self.position) = (runID, position) }

    init?(text: some StringProtocol) {
      let words = text.split(separator: " ")
      guard words.count >= 2, let position = Int(words[1]) else { return nil }
      self.init(runID: String(words[0]), position: position)
    }
  }

  /// The number of crashes after which an entry is a suspect.
  package static let suspectAfter = 3

  /// The file with the slots. The first slot names the process, the others the entries.
  static let slotsName = "filtrations"

  /// The file with the numbers of crashes, and the process whose crash was counted last.
  static let countsName = "suspects"

  private static let slotBytes = 128

  /// The prefix of the name of a process.
  private static let processPrefix = "process "

  private let folder: OpenFolder
  private let slots: OpenFile
  private let changed = NSCondition()

  /// The queue on which the counts are written.
  private let writing = DispatchQueue(label: "Suspects")

  /// The process whose crash was counted last; nil when none was.
  private let countedProcess: String?

  /// The number of crashes during filtrations by entry, since the entry last completed one.
  private var crashes: [Key: Int]
  private var used: [Int: Key] = [:]

  /// Whether the slots name this process. They do so from the first entry on, so that a start needs no disk space.
  private var isNamed = false
  /// The numbers of entries that wait, and of suspects among them.
  private var waiting = 0
  private var waitingSuspects = 0
  private var hasSuspect = false

  /// Reads which entries were being filtered when an earlier process crashed.
  /// - Parameters:
  ///   - folder: The folder of the files.
  ///   - runs: The runs that continue. Counts of other runs are dropped.
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
    // The program may have crashed after counting and before emptying the slots.
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

  /// The texts of the slots of an earlier process.
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

  /// Writes a text to a slot. Errors are ignored, so that they do not stop the filtration.
  private func write(_ text: String, to slot: Int) {
    let bytes = Array(text.utf8.prefix(Self.slotBytes - 1)) + [0]
    bytes.withUnsafeBytes { bytes in _ = try? slots.write(bytes, at: slot * Self.slotBytes) }
  }

  // MARK: Suspects

  /// Whether an entry is filtered alone.
  func isSuspect(_ key: Key) -> Bool { count(of: key) >= Self.suspectAfter }

  /// The positions of the entries of a run that are filtered alone, and last.
  package func suspects(of runID: String) -> [Int] {
    changed.lock()
    defer { changed.unlock() }
    let suspects = crashes.filter { $0.key.runID == runID && $0.key.position >= 0 && $0.value == Self.suspectAfter }
    return suspects.map(\.key.position).sorted()
  }

  private func count(of key: Key) -> Int {
    changed.lock()
    defer { changed.unlock() }
    return crashes[key, default: 0]
  }

  /// Resets the count of an entry that has completed a filtration.
  private func forget(_ key: Key) {
    writing.sync {
      changed.lock()
      crashes[key] = nil
      let crashes = crashes
      changed.unlock()
      // After an error the entry is counted again at most.
      try? Self.write(crashes, countedProcess, in: folder)
    }
  }

  // MARK: Manifests

  /// Reads the manifest of a run, which is recorded meanwhile. Waits while a suspect is being filtered or read.
  /// - Returns: nil when the program has crashed too often while it read the manifest, also alone.
  /// - Throws: The errors of `read`; `CancellationError` soon after `isCancelled` returns true.
  package func reading<Result>(
    manifestOf runID: String, isCancelled: () -> Bool, _ read: () throws -> Result
  ) throws -> Result? {
    let slot: Int
    do throws(ImagingError) {
      slot = try enter(.manifest(of: runID), isCancelled: isCancelled)
    } catch {
      if error.code == .cancelled { throw CancellationError() }
      return nil
    }
    var hasEnded = true
    defer { leave(slot, hasEnded: hasEnded) }
    do {
      return try read()
    } catch is CancellationError {
      hasEnded = false
      throw CancellationError()
    }
  }

  // MARK: Filtrations

  /// Waits until an entry may be filtered, and records it. A suspect waits while others are being filtered; others wait
  /// while a suspect is being filtered or waits.
  /// - Returns: The slot, for `leave`.
  /// - Throws: `decoder-crashed` when the program crashed while it filtered the entry alone; `cancelled`.
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

  /// Records that an entry is not being filtered any more.
  /// - Parameter hasEnded: Whether the filtration has ended, successfully or not, without being cancelled. Its count
  ///   is then reset. Default: true.
  func leave(_ slot: Int, hasEnded: Bool = true) {
    write("", to: slot)
    changed.lock()
    let key = used.removeValue(forKey: slot)
    // A suspect is the only one that is being filtered.
    hasSuspect = false
    let isCounted = key.map { crashes[$0] != nil } ?? false
    if waiting > 0 { changed.broadcast() }
    changed.unlock()
    if let key, hasEnded, isCounted { forget(key) }
  }

  /// Removes the slots before the program ends in order or with an error of its own, for which entries are not to
  /// blame. May be called on any thread.
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

import Foundation
import System

/// What is ignored in the inbox, and what of it has been reported: by this process, or by an earlier one of a file that has
/// not changed since.
struct IgnoredFiles {
  /// So many files at most are remembered for later processes.
  static let limit = 10_000

  /// What a process leaves for the next: for each file, by its name as messages have it, what it was like when it was reported.
  private struct Record: Codable, Equatable {
    let inbox: String
    var files: [String: String] = [:]
  }

  /// As of the last scan, folders included.
  private(set) var current: [InboxScan.Ignored] = []

  /// A file that comes while a process watches is reported when it has been there for so long, in seconds: programs that write
  /// files in place, such as `sed -i`, make temporary ones.
  static let patience = 1.0

  /// Those that came since the last scans and were not reported, with when they were first seen.
  private var passing: [InboxScan.Ignored: Double] = [:]

  private let path: String?
  private var record: Record
  private var isRecorded = true
  private var hasScanned = false

  /// - Parameters:
  ///   - path: Of the file that remembers what was reported; nil for none.
  ///   - inbox: What was reported in another one does not count.
  init(path: String?, inbox: String) {
    self.path = path
    let data = path.flatMap { try? OpenFile(reading: $0, followingLinks: false).readAll() }
    let earlier = data.flatMap { try? JSONDecoder().decode(Record.self, from: $0) }
    record = earlier.flatMap { $0.inbox == inbox ? $0 : nil } ?? Record(inbox: inbox)
  }

  /// When something may have to be reported that a scan has found before, as `Clock.monotonicSeconds`; nil when nothing may.
  var due: Double? { passing.values.min().map { $0 + Self.patience } }

  /// Records what a scan has found.
  /// - Parameters:
  ///   - now: As `Clock.monotonicSeconds`.
  ///   - isPatient: Whether what comes after the first scan is reported only when it has not gone soon. Default: no.
  /// - Returns: What is to be reported. `save` is to be called afterwards.
  mutating func update(
    _ found: [InboxScan.Ignored], now: Double = 0, isPatient: Bool = false
  ) -> [InboxScan.Ignored] {
    guard !hasScanned || found != current || !passing.isEmpty else { return [] }
    let waits = isPatient && hasScanned
    hasScanned = true
    let known = Set(current.lazy.map(\.reason))
    current = found
    let present = found.filter { !$0.isFolder }
    let before = passing
    passing = [:]
    for file in waits ? present : [] {
      guard let since = before[file.reason] ?? (known.contains(file.reason) ? nil : now) else { continue }
      if now - since < Self.patience { passing[file.reason] = since }
    }
    let files = passing.isEmpty ? present : present.filter { passing[$0.reason] == nil }
    let unknown = files.filter { !known.contains($0.reason) || before[$0.reason] != nil }
    let new = unknown.filter { record.files[$0.file.description] != $0.mark }
    let shown = files.prefix(Self.limit).map { ($0.file.description, $0.mark) }
    let marks = Dictionary(shown, uniquingKeysWith: { first, _ in first })
    // A file that grows is no reason to write again and again.
    if !new.isEmpty || marks.keys != record.files.keys { (record.files, isRecorded) = (marks, false) }
    return new
  }

  /// Saves for later processes what was reported. If that cannot be written, they report it again.
  mutating func save() {
    guard !isRecorded, let path else { return }
    isRecorded = true
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let text = try? encoder.encode(record) else { return }
    try? OpenFolder(Folder.parent(of: path)).replace(
      Folder.name(of: path), with: String(decoding: text, as: UTF8.self), mode: 0o600)
  }
}

extension InboxScan.Ignored {
  /// What is not reported twice by one process, even if the file changes.
  fileprivate var reason: InboxScan.Ignored { InboxScan.Ignored(file: file, why: why) }

  /// What is not reported by a later process.
  fileprivate var mark: String { identity + " " + why }
}

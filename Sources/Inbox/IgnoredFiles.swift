import Foundation
import System

/// The ignored files of the inbox. Each is reported once, by this process or an earlier one, and again by a later
/// process when it has changed.
struct IgnoredFiles {
  /// The most files that are remembered for later processes.
  static let limit = 10_000

  /// The record for later processes: the state in which each file was reported, by its name in ASCII; in records of earlier
  /// versions by its name in messages.
  private struct Record: Codable, Equatable {
    let inbox: String
    var files: [String: String] = [:]
  }

  /// The ignored files and folders of the last scan.
  private(set) var current: [InboxScan.Ignored] = []

  /// How long a new file must exist before a watching process reports it, in seconds. Programs that write files in
  /// place, such as `sed -i`, create temporary files.
  static let minAge = 1.0

  /// The new files that have not been reported yet, with the time of the scan that found them first.
  private var passing: [InboxScan.Ignored: Double] = [:]

  private let path: String?
  private var record: Record
  private var isRecorded = true
  private var hasScanned = false

  /// - Parameters:
  ///   - path: The path of the record; nil for none.
  ///   - inbox: The inbox's path. A record of another inbox is ignored.
  init(path: String?, inbox: String) {
    self.path = path
    let data = path.flatMap { try? OpenFile(reading: $0, followingLinks: false).readAll() }
    let earlier = data.flatMap { try? JSONDecoder().decode(Record.self, from: $0) }
    record = earlier.flatMap { $0.inbox == inbox ? $0 : nil } ?? Record(inbox: inbox)
  }

  /// When a file found by an earlier scan may have to be reported, as `Clock.monotonicSeconds`; nil when there is none.
  var due: Double? { passing.values.min().map { $0 + Self.minAge } }

  /// Records the result of a scan.
  /// - Parameters:
  ///   - now: As `Clock.monotonicSeconds`.
  ///   - isPatient: Whether files found after the first scan are reported only if they still exist after `minAge`.
  ///     Default: no.
  /// - Returns: The files to report. `save` must be called afterwards.
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
      if now - since < Self.minAge { passing[file.reason] = since }
    }
    let files = passing.isEmpty ? present : present.filter { passing[$0.reason] == nil }
    let unknown = files.filter { !known.contains($0.reason) || before[$0.reason] != nil }
    let new = unknown.filter { (record.files[$0.file.ascii] ?? record.files[$0.file.description]) != $0.mark }
    let shown = files.prefix(Self.limit).map { ($0.file.ascii, $0.mark) }
    let marks = Dictionary(shown, uniquingKeysWith: { first, _ in first })
    // A file that only changes is not a reason to write the record again.
    if !new.isEmpty || marks.keys != record.files.keys { (record.files, isRecorded) = (marks, false) }
    return new
  }

  /// Saves the record for later processes. When it cannot be written, they report the files again.
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
  /// The key by which one process reports a file only once, even if the file changes.
  fileprivate var reason: InboxScan.Ignored { InboxScan.Ignored(file: file, why: why) }

  /// The state of a file for which later processes do not report it again.
  fileprivate var mark: String { identity + " " + why }
}

import Glibc
import System

/// The file of `--metrics`, for node_exporter's textfile collector. Used on the thread of `Darkroom`.
package final class MetricsFile {
  /// Whether a path is free, or that of an empty file or of one that was written here. Anything else is a user's.
  package static func mayReplace(_ path: String) -> Bool {
    guard let file = try? OpenFile(reading: path, followingLinks: false), let start = try? file.readStart(64) else {
      return (try? FileStatus.exists(path)) == false
    }
    return start.isEmpty || String(decoding: start, as: UTF8.self).hasPrefix("# HELP darkroom_")
  }

  /// After how many seconds an unchanged file is written again: its age says whether the process still works.
  static let renewal = 15.0

  /// The path; nil for no file.
  var path: String? {
    didSet { if path != oldValue { (written, failure) = (nil, nil) } }
  }

  private var metrics = Metrics(started: Clock.wallSeconds)

  /// The values that earlier processes have left in the first file that could be written, so that counts continue through the
  /// runs of cron; nil before that. Its folder may be missing until then, as while it is not mounted.
  private var earlier: [String: Double]?

  /// What was written last, and when; nil before the first.
  private var written: (metrics: Metrics, status: Status, time: Double)?
  private var next = 0.0

  /// When the file may have to be written, as `Clock.monotonicSeconds`; nil without one.
  private(set) var due: Double?
  private var failure: SystemError?

  init(path: String?) { self.path = path }

  func add(_ event: Event) { metrics.add(event, now: Clock.monotonicMilliseconds, wall: Clock.wallSeconds) }

  /// Writes the file when something has changed, at most once per second, or when `renewal` has passed.
  /// - Parameters:
  ///   - now: Seconds of the monotonic clock.
  ///   - isLast: Whether to write immediately, because the process ends.
  /// - Returns: Why the file cannot be written; nil also when that is the same as before.
  func write(_ status: Status, now: Double, isLast: Bool = false) -> SystemError? {
    guard let path else {
      due = nil
      return nil
    }
    guard now >= next || isLast else {
      due = next
      return nil
    }
    next = now + 1
    if !isLast, let written, now < written.time + Self.renewal, (metrics, status) == (written.metrics, written.status) {
      due = written.time + Self.renewal
      return nil
    }
    due = now + Self.renewal
    let families = metrics.families(status, now: Clock.monotonicMilliseconds, isLast: isLast)
    let earlier = earlier ?? Self.values(in: path)
    do throws(SystemError) {
      // A file that has appeared there since the last time may be a user's.
      if written == nil || failure != nil, !Self.mayReplace(path) { throw SystemError("rename", path, code: EEXIST) }
      try Self.replace(path, with: families.map { $0.text(continuing: earlier) }.joined())
      (written, failure, self.earlier) = ((metrics, status, now), nil, earlier)
      return nil
    } catch {
      defer { failure = error }
      return failure == error ? nil : error
    }
  }

  /// Replaces the file atomically, readable by everyone. It is not synced.
  private static func replace(_ path: String, with text: String) throws(SystemError) {
    let folder = try OpenFolder(searching: Folder.parent(of: path))
    let name = Folder.name(of: path)
    // node_exporter reads what ends in .prom.
    let temporary = ".\(name).new"
    try folder.remove(temporary)
    do {
      let file = try folder.create(file: temporary, mode: 0o644)
      // The umask may be stricter; some shares have no modes.
      try? file.setAccess(mode: 0o644)
      try file.write(text)
      try folder.rename(temporary, to: folder, as: name)
    } catch {
      try? folder.remove(temporary)
      throw error
    }
  }

  private static func values(in path: String) -> [String: Double] {
    guard let data = try? OpenFile(reading: path, followingLinks: false).readAll() else { return [:] }
    return MetricFamily.values(in: String(decoding: data, as: UTF8.self))
  }
}

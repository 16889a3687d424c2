import Darkroom
import Foundation
import Model
import System

/// The summary at the end of `run`: the failures and their remedies, where the results are, and how to try again. It covers
/// the runs that have ended, and the rows of this process.
struct ClosingSummary {
  private struct Job {
    let name: String
    let report: String
    let isRejected: Bool
    /// Whether it has failed, and trying again without a change may help.
    let mayRetry: Bool
    /// The bottleneck of the run, and the option that would change it; nil when there is none to name.
    let advice: String?

    /// The job's folder, as the report's path names it.
    var folder: String { Folder.parent(of: report) }
  }

  /// Whether the jobs are shards of one: no command tries one of them again, and their reports are not the job's.
  private let areShards: Bool

  /// By job.
  private var failures: [ByteKey: FailureCounts] = [:]
  private var jobs: [Job] = []
  /// The number of jobs that may be tried again.
  private var retries = 0

  /// The number of codes, and of jobs, that are listed.
  static let maxCodes = 8
  static let maxJobs = 5

  /// Bottlenecks with a smaller share of the time are not mentioned.
  static let leastShare = 0.2

  /// - Parameter areShards: Whether the jobs are shards. Default: no.
  init(areShards: Bool = false) { self.areShards = areShards }

  mutating func add(_ event: Event) {
    switch event {
    case .entryEnded(let job, let row, _):
      if row.failure != nil { failures[ByteKey(job), default: FailureCounts()].add(row) }
    case .jobEnded(let summary) where summary.isLast:
      let hasFailed = summary.state != .succeeded && !summary.isAccepted
      if !summary.earlierFailures.isEmpty {
        failures[ByteKey(summary.job), default: FailureCounts()].add(summary.earlierFailures)
      }
      // Those of a run whose report an earlier process has written are not known.
      let mayPass = failures[ByteKey(summary.job)]?.hasRetryable ?? true
      let mayRetry = hasFailed && summary.state != .rejected && mayPass
      if areShards { return }
      if !hasFailed { failures[ByteKey(summary.job)] = nil }
      if mayRetry { retries += 1 }
      // Other jobs are listed if there are few.
      guard jobs.count(where: { $0.mayRetry == mayRetry }) <= Self.maxJobs else { return }
      let bottleneck = summary.bottlenecks.first.flatMap { $0.share ?? 0 >= Self.leastShare ? $0 : nil }
      jobs.append(
        Job(
          name: summary.job, report: summary.report, isRejected: summary.state == .rejected, mayRetry: mayRetry,
          advice: bottleneck?.description))
    default: break
    }
  }

  /// - Parameters:
  ///   - options: The options of the command line that name folders, for the command that tries again.
  ///   - isForPerson: Whether a person reads it on a terminal. Otherwise there is a line for each code, and one for each job
  ///     that can be tried again, and nothing without failures.
  ///   - hasExamples: Whether failures have no lines of their own, so that each code has an example. Default: yes.
  ///   - folder: The user's current folder. Paths in it are relative to it.
  ///   - exists: Whether a file exists. Default: looked up.
  func lines(
    folders options: [String], isForPerson: Bool, hasExamples: Bool = true,
    in folder: String = FileManager.default.currentDirectoryPath,
    exists: (String) -> Bool = { FileManager.default.fileExists(atPath: $0) }
  ) -> [Line] {
    var lines = failureLines(isForPerson, hasExamples)
    lines += jobs.filter(\.mayRetry).prefix(Self.maxJobs).map { job in
      // After two dashes, a name cannot be taken for an option.
      let words = ["darkroom", "retry"] + options + (job.name.begins(with: "-") ? ["--", job.name] : [job.name])
      return Line(text: "to try again: " + words.map(\.shellQuoted).joined(separator: " "), isForCopying: true)
    }
    if retries > Self.maxJobs { lines.append("to try again: and so on, for each of \(retries) jobs") }
    return lines + (isForPerson ? locations(in: folder, exists) : [])
  }

  private func failureLines(_ isForPerson: Bool, _ hasExamples: Bool) -> [Line] {
    let all = failures.sorted { $0.key < $1.key }.reduce(into: FailureCounts()) { all, job in
      all.add(job.value, of: job.key.text)
    }
    let ordered = all.kinds.sorted { ($1.value.count, $0.key.text) < ($0.value.count, $1.key.text) }
    var lines: [Line] = []
    for (kind, found) in ordered.prefix(Self.maxCodes) {
      guard hasExamples else {
        lines.append("remedy for \(kind.text): \(kind.remedy)")
        continue
      }
      let what = "\(found.count) failed with \(kind.text)" + (found.count > 1 ? ", such as " : ": ") + found.example
      lines += isForPerson ? ["\(what)", "  remedy: \(kind.remedy)"] : ["\(what); remedy: \(kind.remedy)"]
    }
    let more = ordered.count - Self.maxCodes
    if more > 0 { lines.append("and \(more.of("more kind", "more kinds")) of failure, see the reports") }
    return lines
  }

  /// The folders and galleries of a few jobs, whose reports' paths were printed.
  private func locations(in folder: String, _ exists: (String) -> Bool) -> [Line] {
    let shown = jobs.filter { !$0.isRejected }
    guard shown.count <= Self.maxJobs else { return [] }
    return shown.flatMap { job in
      let (images, gallery) = (job.folder + "/images", job.folder + "/index.html")
      func short(_ path: String) -> String { Folder.path(path, in: folder) ?? path }
      let locations = [
        exists(images) ? "results in \(short(images))" : nil, exists(gallery) ? "gallery \(short(gallery))" : nil,
      ].compactMap { $0 }
      let line = "\(job.name): " + locations.joined(separator: ", ")
      return (locations.isEmpty ? [] : [Line(text: line)]) + (job.advice.map { ["\(job.name): \($0)"] } ?? [])
    }
  }

  struct Line: Equatable, ExpressibleByStringInterpolation {
    let text: String

    /// Whether it contains a command to copy: it is not wrapped.
    let isForCopying: Bool

    init(text: String, isForCopying: Bool = false) { (self.text, self.isForCopying) = (text, isForCopying) }
    init(stringLiteral text: String) { self.init(text: text) }
  }
}

extension String {
  /// As a word for a shell: in quotes if it has anything but letters and digits of ASCII and common punctuation. So names that look
  /// the same, such as ü in its two spellings, are quoted alike.
  var shellQuoted: String {
    let isPlain =
      !isEmpty
      && utf8.allSatisfy { byte in
        switch UnicodeScalar(byte) {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: "_./@%+=:,-".utf8.contains(byte)
        }
      }
    return isPlain ? self : "'" + replacing(every: "'", with: "'\\''") + "'"
  }
}

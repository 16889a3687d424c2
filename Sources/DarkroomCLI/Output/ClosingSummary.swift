import Darkroom
import Foundation
import Model

/// What is said at the end of `run`: which failures there were and what can be done about them, where the results are, and how
/// to try again. It has the events of one process; the report has all.
struct ClosingSummary {
  /// What has one remedy.
  private struct Kind: Hashable {
    let code: String
    let httpStatus: Int?

    var text: String { code + (httpStatus.map { " (\($0))" } ?? "") }
    var remedy: String { FailureCode(text: code)?.remedy(httpStatus: httpStatus) ?? "see the report" }
  }

  private struct Failures {
    var count = 0
    let example: String
  }

  private struct Job {
    let name: String
    let report: String
    let hasFailed: Bool
    let isRejected: Bool
    /// Whether none of its failures may be gone when it is tried again as it is.
    let needsRemedy: Bool
    /// What bounded the run, and the option that would change it; nil if that says nothing.
    let advice: String?

    /// The job's folder, as the report's path names it.
    var folder: String { (report as NSString).deletingLastPathComponent }
  }

  /// By their jobs and kinds.
  private var failures: [String: [Kind: Failures]] = [:]
  /// Jobs that have a failure that may be gone at another time.
  private var passing: Set<String> = []
  private var jobs: [Job] = []
  private var failedJobs = 0

  /// So many codes, and so many jobs, are listed.
  static let maxCodes = 8
  static let maxJobs = 5

  /// Bottlenecks for a smaller share of the time are not worth a sentence.
  static let leastShare = 0.2

  mutating func add(_ event: Event) {
    switch event {
    case .entryEnded(let job, let row, _):
      guard let failure = row.failure else { return }
      let example = "\(job): \(row.title): \(failure.message)"
      let kind = Kind(code: failure.code, httpStatus: failure.httpStatus)
      failures[job, default: [:]][kind, default: Failures(example: example)].count += 1
      if failure.isRetryable { passing.insert(job) }
    case .jobEnded(let summary) where summary.isLast:
      let hasFailed = summary.state != .succeeded && !summary.isAccepted
      let needsRemedy = failures[summary.job] != nil && !passing.contains(summary.job)
      if !hasFailed { failures[summary.job] = nil } else { failedJobs += 1 }
      // Those that did not fail are listed if there are few.
      guard jobs.count(where: { $0.hasFailed == hasFailed }) <= Self.maxJobs else { return }
      let bottleneck = summary.bottlenecks.first.flatMap { $0.share ?? 0 >= Self.leastShare ? $0 : nil }
      jobs.append(
        Job(
          name: summary.job, report: summary.report, hasFailed: hasFailed, isRejected: summary.state == .rejected,
          needsRemedy: needsRemedy, advice: bottleneck?.description))
    default: break
    }
  }

  /// - Parameters:
  ///   - options: The options of the command line that name folders, for the command that tries again.
  ///   - isForPerson: Whether somebody reads it on a terminal. Otherwise there is a line for each code, and one for each job
  ///     that can be tried again, and nothing when all is well.
  ///   - hasExamples: Whether one failure of each code is told. Default: yes.
  ///   - folder: The folder that the user is in. What is in it is named from there.
  ///   - exists: Whether a file is there. Default: that is looked up.
  func lines(
    folders options: [String], isForPerson: Bool, hasExamples: Bool = true,
    in folder: String = FileManager.default.currentDirectoryPath,
    exists: (String) -> Bool = { FileManager.default.fileExists(atPath: $0) }
  ) -> [Line] {
    let retries = jobs.filter { $0.hasFailed && !$0.isRejected }
    var lines = failureLines(isForPerson, hasExamples)
    lines += retries.prefix(Self.maxJobs).map { job in
      // What looks like an option is none after two dashes.
      let words = ["darkroom", "retry"] + options + (job.name.hasPrefix("-") ? ["--", job.name] : [job.name])
      let when = job.needsRemedy ? "after that, to try again: " : "to try again: "
      return Line(text: when + words.map(\.shellQuoted).joined(separator: " "), isForCopying: true)
    }
    if retries.count > Self.maxJobs { lines.append("to try again: and so on, for each of \(failedJobs) jobs") }
    return lines + (isForPerson ? places(in: folder, exists) : [])
  }

  private func failureLines(_ isForPerson: Bool, _ hasExamples: Bool) -> [Line] {
    var all: [Kind: Failures] = [:]
    for (kind, found) in failures.sorted(by: { $0.key < $1.key }).flatMap(\.value) {
      all[kind, default: Failures(example: found.example)].count += found.count
    }
    let ordered = all.sorted { ($1.value.count, $0.key.text) < ($0.value.count, $1.key.text) }
    var lines: [Line] = []
    for (kind, found) in ordered.prefix(Self.maxCodes) {
      let example = hasExamples ? (found.count > 1 ? ", such as " : ": ") + found.example : ""
      let (what, remedy) = ("\(found.count) failed with \(kind.text)" + example, "remedy: " + kind.remedy)
      lines += isForPerson ? ["\(what)", "  \(remedy)"] : ["\(what); \(remedy)"]
    }
    let more = ordered.count - Self.maxCodes
    if more > 0 { lines.append("and \(more.of("more kind", "more kinds")) of failure, see the reports") }
    return lines
  }

  /// Where the results of a few jobs are.
  private func places(in folder: String, _ exists: (String) -> Bool) -> [Line] {
    let shown = jobs.filter { !$0.isRejected }
    guard shown.count <= Self.maxJobs else { return [] }
    return shown.flatMap { job in
      let (images, gallery) = (job.folder + "/images", job.folder + "/index.html")
      func short(_ path: String) -> String {
        path.hasPrefix(folder + "/") ? String(path.dropFirst(folder.count + 1)) : path
      }
      let places = [
        exists(images) ? "results in \(short(images))" : nil, "report \(short(job.report))",
        exists(gallery) ? "gallery \(short(gallery))" : nil,
      ]
      let line = "\(job.name): " + places.compactMap { $0 }.joined(separator: ", ")
      return [Line(text: line)] + (job.advice.map { ["\(job.name): \($0)"] } ?? [])
    }
  }

  struct Line: Equatable, ExpressibleByStringInterpolation {
    let text: String

    /// Whether it has a command that somebody may copy: it is not wrapped.
    let isForCopying: Bool

    init(text: String, isForCopying: Bool = false) { (self.text, self.isForCopying) = (text, isForCopying) }
    init(stringLiteral text: String) { self.init(text: text) }
  }
}

extension String {
  var shellQuoted: String {
    let isPlain =
      !isEmpty
      && unicodeScalars.allSatisfy {
        $0.properties.isAlphabetic || ("0"..."9").contains($0) || "_./@%+=:,-".unicodeScalars.contains($0)
      }
    return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
  }
}

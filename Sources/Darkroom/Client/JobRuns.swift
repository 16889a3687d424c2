import Delivery
import Model
import System

/// Collects the runs of a job that end while it is watched, from their reports in the job's folder and in `history`.
struct JobRuns {
  private let job: String
  private let configuration: Configuration
  private let folder: JobFolder

  /// Runs whose reports were read, including those that ended before.
  private var known: Set<String> = []
  private var found: [(run: String, state: JobOutcome.State)] = []

  /// The last manifest that was rejected instead of replacing a live run's; nil when there is none.
  private var rejected: String?

  /// The latest run that was open; empty when there was none.
  private var lastOpen = ""

  /// The last run and its state; nil when there is no report.
  private var last: (run: String, state: JobOutcome.State)?

  /// Whether a run of it has ended while it was watched.
  var hasEnded: Bool { !found.isEmpty }

  /// The identity of `report.json` when it was read.
  private var read: FileIdentity?

  /// The identity of `history` when its names were read; nil when it may have changed since without a visible sign.
  private var listed: FileIdentity?

  /// The folders of `history` that had no report yet. A run's report is moved there last.
  private var unread: [String] = []

  /// Records the runs that have ended before.
  /// - Throws: `SystemError`.
  init(_ job: String, _ configuration: Configuration) throws {
    self.job = job
    self.configuration = configuration
    folder = OutboxFolder(path: configuration.outbox).job(job)
    try collect(isOver: false)
    rejected = found.filter { $0.state == .rejected && $0.run != last?.run }.map(\.run).max()
    found = []
  }

  /// Records the runs that have ended since the last call.
  /// - Parameters:
  ///   - isOver: Whether the job has ended and must have a report.
  ///   - open: Its open runs. Default: none.
  ///   - whyIgnored: Why its manifest is not taken, for an error. Default: nil, there is none.
  /// - Throws: `StopError.missing` when it has no report; `SystemError`.
  mutating func collect(isOver: Bool, open: [String] = [], whyIgnored: String? = nil) throws {
    lastOpen = open.reduce(lastOpen, max)
    // `history` is read first, since a report moves there when the next run begins. So no report is missed.
    for run in unreadRuns() { takeEarlier(run) }
    do {
      let file = try folder.open(file: "report.json")
      let identity = try file.status().identity
      if identity != read {
        last = nil
        if let head = try ReportHead(of: file), let state = head.state {
          let run = head.runID ?? ""
          last = (run, configuration.accepted(state, of: head))
          if known.insert(run).inserted { take(head, of: run) }
        }
        read = identity
      }
      guard !isOver || last != nil else { throw StopError.missing("\(folder.report): this is no report") }
    } catch let error as SystemError where [.missing, .occupied].contains(error.cause) {
      guard isOver else { return }
      let why = (whyIgnored ?? "no manifest in the inbox") + ", and no report in the outbox"
      throw StopError.missing("there is no job \"\(job)\": \(why)")
    }
  }

  /// The ended job. A manifest that was rejected before the wait counts if no later one was accepted.
  var ended: JobWait.Ended {
    var runs = found.isEmpty ? last.map { [$0] } ?? [] : found
    let latest = (runs.map(\.run) + [last?.run ?? ""]).max() ?? ""
    if let rejected, rejected >= lastOpen, rejected > latest { runs.append((rejected, .rejected)) }
    // A manifest that was rejected while another run of the job was live has its report in `history`.
    let later = runs.filter { $0.state == .rejected && $0.run > last?.run ?? "" }.map(\.run).max()
    let newest = later ?? last?.run
    let earlier = runs.filter { $0.run != newest && $0.state != .succeeded }
    return JobWait.Ended(
      job: job, report: later.map(path(of:)) ?? folder.report, states: Set(runs.map(\.state)),
      earlier: earlier.map { ($0.state, $0.run == last?.run ? folder.report : path(of: $0.run)) })
  }

  /// The path of a report in `history`.
  private func path(of run: String) -> String { folder.file("history/\(run)/report.json") }

  private mutating func take(_ head: ReportHead, of run: String) {
    // A superseded run is left out, since a later run of the job counts.
    guard let state = head.state, state != .superseded else { return }
    found.append((run, configuration.accepted(state, of: head)))
  }

  /// Records a run in `history`, if its report exists.
  private mutating func takeEarlier(_ run: String) {
    let read: ReportHead?
    do {
      read = try ReportHead(of: folder.open(file: "history/\(run)/report.json"))
    } catch {
      return
    }
    unread.removeAll { $0 == run }
    known.insert(run)
    guard let head = read else { return }
    // If a folder of the run's name existed in `history`, the run was moved to another one.
    if let id = head.runID, id != run, !known.insert(id).inserted { return }
    take(head, of: run)
  }

  /// The names of the folders in `history` that were not read, the oldest first.
  private mutating func unreadRuns() -> [String] {
    guard let history = try? folder.open("history"), let identity = try? history.status().identity else { return [] }
    if identity == listed { return unread }
    unread = ((try? history.names()) ?? []).compactMap(\.text)
      .filter { History.isRun($0) && !known.contains($0) }.sorted()
    // A change in the same moment may not change the modification time.
    listed = abs(Clock.wallSeconds - identity.modified.sinceEpoch) < 2 ? nil : identity
    return unread
  }
}

extension Configuration {
  /// The state of a report that counts for the exit code. A job whose failures are accepted has succeeded, and one without entries
  /// may count as failed.
  package func accepted(_ state: JobOutcome.State, of head: ReportHead) -> JobOutcome.State {
    if failEmpty, state == .succeeded, head.counts?.total == 0 { return .failed }
    let isAccepted = head.counts.map { acceptFailures?.accepts(state, $0, sinceLast: head.sinceLast) == true }
    return isAccepted == true ? .succeeded : state
  }
}

import System

/// The runs of a job that end while it is watched: what their reports say, wherever these are meanwhile.
struct JobRuns {
  private let job: String
  private let configuration: Configuration
  private let folder: JobFolder

  /// Runs that are known, those included that had ended before.
  private var known: Set<String> = []
  private var found: [(run: String, state: JobOutcome.State)] = []

  /// The last run, and how it ended; nil when there is no report.
  private var last: (run: String, state: JobOutcome.State)?

  /// Takes in what has ended before.
  /// - Throws: `SystemError`.
  init(_ job: String, _ configuration: Configuration) throws {
    self.job = job
    self.configuration = configuration
    folder = OutboxFolder(path: configuration.outbox).job(job)
    try collect(isOver: false)
    found = []
  }

  /// Takes in what has ended since.
  /// - Parameter isOver: Whether the job has ended: then it must have a report.
  /// - Throws: `StopError.missing` when it has none; `SystemError`.
  mutating func collect(isOver: Bool) throws {
    // A report moves to the history when the next run begins: whoever looks there first misses none in the end.
    for run in earlierRuns() where known.insert(run).inserted {
      if let head = try? ReportHead(of: folder.open(file: "history/\(run)/report.json")) { take(head, of: run) }
    }
    do {
      guard let head = try ReportHead(of: folder.open(file: "report.json")), let state = head.state else {
        guard isOver else { return }
        throw StopError.missing("\(folder.report): this is no report")
      }
      let run = head.runID ?? ""
      last = (run, accepted(head, state))
      if known.insert(run).inserted { take(head, of: run) }
    } catch let error as SystemError where [.missing, .occupied].contains(error.cause) {
      guard isOver else { return }
      throw StopError.missing("there is no job \"\(job)\": no manifest in the inbox, and no report in the outbox")
    }
  }

  /// The job, which has ended.
  var ended: JobWait.Ended {
    let earlier = found.filter { $0.run != last?.run && $0.state != .succeeded }
    let states = found.isEmpty ? last.map { [$0.state] } ?? [] : found.map(\.state)
    return JobWait.Ended(
      job: job, report: folder.report, states: Set(states),
      earlier: earlier.map { ($0.state, folder.file("history/\($0.run)/report.json")) })
  }

  private mutating func take(_ head: ReportHead, of run: String) {
    // What a later run says of the job counts.
    guard let state = head.state, state != .superseded else { return }
    found.append((run, accepted(head, state)))
  }

  private func accepted(_ head: ReportHead, _ state: JobOutcome.State) -> JobOutcome.State {
    let isAccepted = head.counts.map {
      configuration.acceptFailures?.accepts(state, $0, sinceLast: head.sinceLast) == true
    }
    return isAccepted == true ? .succeeded : state
  }

  /// The names of the folders of earlier runs, the oldest first.
  private func earlierRuns() -> [String] {
    ((try? folder.open("history").names()) ?? []).compactMap(\.text).sorted()
  }
}

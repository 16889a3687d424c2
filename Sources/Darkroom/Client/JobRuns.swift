import Model
import System

/// The runs of a job that end while it is watched: what their reports say, wherever these are meanwhile.
struct JobRuns {
  private let job: String
  private let configuration: Configuration
  private let folder: JobFolder

  /// Runs whose reports were read, those included that had ended before.
  private var known: Set<String> = []
  private var found: [(run: String, state: JobOutcome.State)] = []

  /// The last manifest that was rejected before it could take the place of another one's; nil without any.
  private var rejected: String?

  /// The last run that was seen to be open; empty without any.
  private var lastOpen = ""

  /// The last run, and how it ended; nil when there is no report.
  private var last: (run: String, state: JobOutcome.State)?

  /// `report.json` as it was read last.
  private var read: FileIdentity?

  /// `history` as its names were read last; nil when it may have changed since without a sign of that.
  private var listed: FileIdentity?

  /// The folders of `history` that had no report: when a run is put aside, its report comes last.
  private var unread: [String] = []

  /// Records what has ended before.
  /// - Throws: `SystemError`.
  init(_ job: String, _ configuration: Configuration) throws {
    self.job = job
    self.configuration = configuration
    folder = OutboxFolder(path: configuration.outbox).job(job)
    try collect(isOver: false)
    rejected = found.filter { $0.state == .rejected && $0.run != last?.run }.map(\.run).max()
    found = []
  }

  /// Records what has ended since.
  /// - Parameters:
  ///   - isOver: Whether the job has ended: then it must have a report.
  ///   - open: Those of its runs that are open. Default: none.
  /// - Throws: `StopError.missing` when it has none; `SystemError`.
  mutating func collect(isOver: Bool, open: [String] = []) throws {
    lastOpen = open.reduce(lastOpen, max)
    // A report moves to the history when the next run begins: whoever looks there first misses none in the end.
    for run in unreadRuns() { takeEarlier(run) }
    do {
      let file = try folder.open(file: "report.json")
      let identity = try file.status().identity
      if identity != read {
        last = nil
        if let head = try ReportHead(of: file), let state = head.state {
          let run = head.runID ?? ""
          last = (run, accepted(head, state))
          if known.insert(run).inserted { take(head, of: run) }
        }
        read = identity
      }
      guard !isOver || last != nil else { throw StopError.missing("\(folder.report): this is no report") }
    } catch let error as SystemError where [.missing, .occupied].contains(error.cause) {
      guard isOver else { return }
      throw StopError.missing("there is no job \"\(job)\": no manifest in the inbox, and no report in the outbox")
    }
  }

  /// The job, which has ended. What was rejected before it was waited for counts if no later manifest was accepted.
  var ended: JobWait.Ended {
    var runs = found.isEmpty ? last.map { [$0] } ?? [] : found
    let latest = (runs.map(\.run) + [last?.run ?? ""]).max() ?? ""
    if let rejected, rejected >= lastOpen, rejected > latest { runs.append((rejected, .rejected)) }
    // A manifest that was rejected while another one's job went on has its report in `history`.
    let later = runs.filter { $0.state == .rejected && $0.run > last?.run ?? "" }.map(\.run).max()
    let newest = later ?? last?.run
    let earlier = runs.filter { $0.run != newest && $0.state != .succeeded }
    return JobWait.Ended(
      job: job, report: later.map(path(of:)) ?? folder.report, states: Set(runs.map(\.state)),
      earlier: earlier.map { ($0.state, $0.run == last?.run ? folder.report : path(of: $0.run)) })
  }

  /// The path of the report of a run that was put aside.
  private func path(of run: String) -> String { folder.file("history/\(run)/report.json") }

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

  /// Records a run that was put aside, if its report is there.
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
    // Where somebody has the run's name in `history`, it goes by another there.
    if let id = head.runID, id != run, !known.insert(id).inserted { return }
    take(head, of: run)
  }

  /// The names of the folders of earlier runs that were not read, the oldest first.
  private mutating func unreadRuns() -> [String] {
    guard let history = try? folder.open("history"), let identity = try? history.status().identity else { return [] }
    if identity == listed { return unread }
    unread = ((try? history.names()) ?? []).compactMap(\.text).filter { !known.contains($0) }.sorted()
    // What comes in the same moment does not date it anew.
    listed = abs(Clock.wallSeconds - identity.modified.sinceEpoch) < 2 ? nil : identity
    return unread
  }
}

import Darkroom

/// The progress of the live jobs together, as the progress line shows it.
struct JobsProgress {
  private struct Job {
    let total: Int
    var ended: Int
    let endedBefore: Int
    var deferred: Int
    let began = ContinuousClock.now
  }

  private var jobs: [String: Job] = [:]
  private var failed = 0

  /// Why the queues are suspended; nil while they are not.
  var pause: String?

  /// Rows of jobs that have ended since there was last no live job.
  private var ofEndedJobs = (total: 0, ended: 0, new: 0)
  private var began = ContinuousClock.now

  mutating func start(_ job: String, total: Int, ended: Int, deferred: Int) {
    if jobs.isEmpty { (ofEndedJobs, failed, began) = ((0, 0, 0), 0, .now) }
    jobs[job] = Job(total: total, ended: ended, endedBefore: ended, deferred: deferred)
  }

  mutating func add(_ row: ReportRow, of job: String) {
    jobs[job]?.ended += 1
    if row.failure != nil { failed += 1 }
  }

  mutating func setDeferred(_ count: Int, of job: String) { jobs[job]?.deferred = count }

  mutating func end(_ job: String) {
    guard let ended = jobs.removeValue(forKey: job) else { return }
    ofEndedJobs.total += ended.total
    ofEndedJobs.ended += ended.ended
    ofEndedJobs.new += ended.ended - ended.endedBefore
  }

  /// The text of the line; nil while no job is live.
  var text: String? {
    guard let name = jobs.keys.first else { return nil }
    let total = jobs.values.reduce(ofEndedJobs.total) { $0 + $1.total }
    let ended = jobs.values.reduce(ofEndedJobs.ended) { $0 + $1.ended }
    let new = jobs.values.reduce(ofEndedJobs.new) { $0 + $1.ended - $1.endedBefore }
    let deferred = jobs.values.reduce(0) { $0 + $1.deferred }
    let (seconds, _) = began.duration(to: .now).components
    let share = total == 0 ? 100 : 100 * ended / total
    // With a job's name come its own numbers only.
    let what = jobs.count > 1 ? "\(jobs.count) jobs" : ofEndedJobs.total > 0 ? "jobs" : name
    return what + ": \(ended)/\(total) (\(share) %)"
      + (failed > 0 ? ", \(failed) failed" : "")
      + (deferred > 0 ? ", \(deferred) deferred" : "")
      + (seconds > 1 ? ", \(Int(Double(new) / Double(seconds)))/s" : "")
      + (pause.map { ", paused: \($0)" } ?? "")
  }
}

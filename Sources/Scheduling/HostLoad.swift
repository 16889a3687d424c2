/// What a host is doing for all jobs together.
struct HostLoad: Sendable {
  /// A job's site that waits for room at a host.
  struct Blocked: Sendable {
    let job: Int
    let site: Int
  }

  /// The number that the caller gives to it.
  let number: Int

  /// Downloads that have started and not ended.
  var downloading = 0

  var throttle: Throttle

  /// Milliseconds of downloads in the queue.
  var spent = 0

  /// How many jobs have something at it.
  var jobs = 0

  /// The sites that are ranked again when the host changes or opens.
  var blocked: [Blocked] = []

  /// When the next timer for it is due; nil when there is none.
  var timer: Int?

  init(number: Int, throttle: Throttle) {
    self.number = number
    self.throttle = throttle
  }

  /// The time spent, in units that are large enough to rank it behind others.
  var quanta: Int { spent / HostScheduler.quantum }

  func hasRoom(perHost: Int, now: Int) -> Bool {
    number == HostScheduler.files || downloading < min(perHost, throttle.room) && throttle.opens <= now
  }
}

import System

/// The load of a host, over all jobs.
struct HostLoad: Sendable {
  /// A job's site that waits for room at a host.
  struct Blocked: Sendable {
    let job: Int
    let site: Int
  }

  /// The host's number, chosen by the caller.
  let number: Int

  /// Downloads that have started and not ended.
  var downloading = 0

  /// Downloads whose request is not known to have begun.
  var beginning = 0

  /// Downloads that are too slow, see `DownloadPace`.
  var slow = 0

  /// Downloads at once that a rule allows; nil without one.
  private var perHost: Int?

  var throttle: Throttle
  var breaker = HostBreaker()
  var concurrency = HostConcurrency()

  /// Downloads that started while it did not answer, and have not ended.
  private(set) var waiting = 0

  /// When the first of them started; nil without any.
  private var waitingSince: Int?

  /// The total time by which its downloads have exceeded the usual one, in milliseconds.
  var excess = 0

  var jobs = 0

  /// The sites to rank again when the host changes, or when a download may start there again.
  var blocked: [Blocked] = []

  /// When the next timer of the host is due; nil when there is none.
  var timer: Int?

  init(number: Int, throttle: Throttle, allowance: HostAllowance) {
    self.number = number
    self.throttle = throttle
    allow(allowance)
  }

  mutating func allow(_ allowance: HostAllowance) {
    perHost = allowance.downloads
    throttle.spacing = allowance.interval
  }

  /// The excess, in units that are large enough to rank the host behind others.
  var quanta: Int { excess / HostScheduler.quantum }

  /// Whether a download may start. At a host that was given up any may: it fails at once.
  /// - Parameters:
  ///   - slots: The limit of a host without a rule.
  ///   - hasTrialRoom: Whether one more closed host may be tried.
  func hasRoom(_ slots: HostLimit, hasTrialRoom: Bool, now: Int) -> Bool {
    guard number != HostScheduler.files, !breaker.isGivenUp else { return true }
    guard throttle.nextStart <= now, throttle.spacing == 0 || beginning == 0 else { return false }
    if breaker.isClosed { return hasTrialRoom && breaker.trialDue.map { $0 <= now } == true }
    return downloading < min(room(slots), throttle.room)
  }

  /// When a download may start again, as far as that depends only on time.
  var nextStart: Int { max(throttle.nextStart, breaker.isClosed ? breaker.trialDue ?? 0 : 0) }

  /// Downloads at once from a host that is not known to answer.
  private static let unknown = 2

  /// Downloads at once, whether or not it has refused requests.
  private func room(_ slots: HostLimit) -> Int {
    let slots = perHost.map(HostLimit.init(fixed:)) ?? slots
    let room =
      breaker.responds || slots.isFixed && breaker.silences == 0
      ? concurrency.room(slots) : min(Self.unknown, slots.connections)
    // Unless the operator gave a number, slow downloads leave one slot to others.
    return slots.isFixed ? room : max(room, min(slow + 1, 2 * room))
  }

  /// The downloads that only wait: for the host's first answer, for a while, or for an answer after a silence.
  func silentDownloads(now: Int) -> Int {
    let isSilent = breaker.silences > 0 || waitingSince.map { now - $0 >= HostScheduler.silentAfter } == true
    return isSilent ? waiting : 0
  }

  /// - Parameter isRequest: Whether the host is asked.
  mutating func started(now: Int, isRequest: Bool) {
    downloading += 1
    if isRequest { throttle.started(now: now) }
    guard number != HostScheduler.files, !breaker.responds else { return }
    waiting += 1
    waitingSince = waitingSince ?? now
  }

  /// Counts a download that has ended, after its result was recorded.
  mutating func ended(began: Int) {
    downloading -= 1
    guard let since = waitingSince, began >= since else { return }
    waiting -= 1
    if waiting == 0 { waitingSince = nil }
  }

  /// Records that an answer has begun to arrive.
  mutating func answerBegan() {
    breaker.answerBegan()
    (waiting, waitingSince) = (0, nil)
  }
}

/// Finds how many downloads at once a host supports: fewer when its answers take several times as long as before, and more
/// again once they do not.
///
/// The time to the first byte is averaged over a few answers. Its least average is the reference, as in TCP Vegas
/// (Brakmo, Peterson, 1994); it rises slowly, so that a host that has become slower for good is not kept down.
struct HostConcurrency: Equatable, Sendable {
  /// Whether one connection carries all downloads.
  private(set) var isMultiplexed = false

  /// Downloads at once, if less than the allowed number.
  private(set) var limit = Int.max

  private var best = Double.infinity
  private var sum = 0.0
  private var count = 0
  private var wasSlow = false

  /// The lowest limit.
  static let least = 2

  /// The number of streams of one connection that a host gets first.
  static let firstStreams = 6

  func room(_ slots: HostLimit) -> Int {
    let most = isMultiplexed ? slots.streams : slots.connections
    return slots.isFixed ? most : min(most, limit)
  }

  /// Records an answer.
  /// - Parameters:
  ///   - firstByte: Seconds from the request to the first byte.
  ///   - downloading: How many downloads ran at once, this one included.
  mutating func answered(firstByte: Double?, isMultiplexed: Bool, downloading: Int) {
    if isMultiplexed, !self.isMultiplexed {
      self = HostConcurrency()
      (self.isMultiplexed, limit) = (true, max(Self.firstStreams, downloading))
    }
    guard let firstByte else { return }
    (sum, count) = (sum + firstByte, count + 1)
    guard count >= max(8, downloading) else { return }
    let mean = sum / Double(count)
    (sum, count) = (0, 0)
    best = min(best * 1.02, mean)
    if mean > 3 * best, mean > best + 0.25 {
      limit = max(Self.least, min(limit, downloading) * 3 / 4)
      wasSlow = true
    } else if limit < .max, mean < 2 * best || mean < best + 0.1 {
      // At most twice the number that was tried.
      limit = wasSlow ? limit + 1 : min(limit, downloading) * 2
      if limit >= 1024 { limit = .max }
    }
  }
}

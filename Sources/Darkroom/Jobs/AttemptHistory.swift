import Scheduling

/// What is known of the tries of an entry: one value, which goes along whole while the entry waits, is in progress, is
/// deferred or changes to its next mirror. Times are milliseconds of the monotonic clock.
struct AttemptHistory {
  /// Tries that do not count if the network was down.
  struct Suspected {
    /// The number of the suspicion that becomes an outage or does not.
    let suspicion: Int
    let tries: Int
  }

  /// How often it was tried, at all of its URLs: what its row says.
  var attempts = 0

  /// How many of these count for `--retries`: those at the URL in use that its host did not refuse.
  var counted = 0

  /// How often its host refused the URL in use.
  var refusals = 0

  /// Whether the URL in use was tried before.
  var wasAsked = false

  /// Which of its URLs is in use, from 0.
  var mirror = 0

  /// How the mirrors before that one failed, in their order.
  var mirrorFailures: [ReportRow.MirrorFailure] = []

  /// Whether one of them failed with a retryable error.
  var hadRetryableMirrorFailure = false

  /// When it was first tried. Default: nil, it was not.
  var firstTried: Int?

  /// When it was started for the first time since it was last deferred, by the clock that stands still during pauses. Set
  /// while `--entry-timeout` limits its time.
  var roundBegan: Int?

  /// Why the last try failed. Set while `--entry-timeout` limits its time: it may be its last.
  var failure: EntryFailure?

  /// What the last try left of its download, for the next one at the same URL.
  var partial: PartialDownload?

  /// The last tries, as far as they belong to a suspicion. Default: nil, none does.
  var suspected: Suspected?
}

extension AttemptHistory {
  /// - Parameter attempts: How often it was tried, at its first URL.
  init(attempts: Int, firstTried: Int? = nil) {
    self.init(attempts: attempts, counted: attempts, wasAsked: attempts > 0, firstTried: firstTried)
  }

  /// Of an entry that was deferred: its retries begin anew.
  init(_ deferred: DeferredEntry) {
    self.init(attempts: deferred.attempts, wasAsked: deferred.attempts > 0, firstTried: deferred.firstTried)
  }

  /// Records a try at the URL in use.
  /// - Parameters:
  ///   - attempts: How often the entry was tried, this try included.
  ///   - isRefused: Whether its host refused it.
  mutating func tried(attempts: Int, isRefused: Bool) {
    if isRefused { refusals += 1 } else { counted += attempts - self.attempts }
    self.attempts = attempts
    wasAsked = true
  }

  /// Changes to the next mirror.
  /// - Parameters:
  ///   - attempts: How often the entry was tried, at all of its URLs.
  ///   - failure: How the mirror failed that was in use.
  ///   - isRetryable: Whether that may succeed later.
  mutating func useMirror(attempts: Int, after failure: ReportRow.MirrorFailure?, isRetryable: Bool) {
    self.attempts = attempts
    (counted, refusals, wasAsked, suspected, partial) = (0, 0, false, nil, nil)
    mirror += 1
    if let failure { mirrorFailures.append(failure) }
    hadRetryableMirrorFailure = hadRetryableMirrorFailure || isRetryable
  }

  // MARK: Outages

  /// How many tries count, as far as they do not belong to an outage.
  func counted(isOutage: (Int) -> Bool) -> Int {
    counted - (suspected.map { isOutage($0.suspicion) ? $0.tries : 0 } ?? 0)
  }

  /// Records that the last try failed, which does not count if a suspicion becomes an outage.
  mutating func fail(suspicion: Int, isOutage: (Int) -> Bool) {
    var tries = 1
    if let earlier = suspected {
      if earlier.suspicion == suspicion {
        tries += earlier.tries
      } else if isOutage(earlier.suspicion) {
        // The record of the last try has its number already: it cannot be lowered any more.
        counted -= earlier.tries
        roundBegan = nil
      }
    }
    suspected = Suspected(suspicion: suspicion, tries: tries)
  }

  /// Takes off the tries that failed because the network was down, before the entry is started again: neither they nor their
  /// time count.
  mutating func discountOutage(_ isOutage: (Int) -> Bool) {
    guard let suspected, isOutage(suspected.suspicion) else { return }
    attempts = max(0, attempts - suspected.tries)
    counted = max(0, counted - suspected.tries)
    wasAsked = attempts > 0
    roundBegan = nil
    self.suspected = nil
  }
}

/// What is known of whether a host answers. Times are milliseconds of any clock.
///
/// A host that stays silent costs a place for as long as a connection may take. So it gets few places until it has
/// answered; after the first silence its tries are short; and when it was silent more often in a row than a download is
/// tried again, its entries are tried once each, with all its places.
package struct Reachability: Equatable, Sendable {
  /// What a download says of whether its host can be reached, for the number of its downloads and the time that they may
  /// take. How much it can bear is `HostScheduler.Answer`.
  package enum Contact: Equatable, Sendable {
    /// It sent at least the beginning of an answer.
    /// - Parameters:
    ///   - firstByte: Seconds from the request to the answer; nil when that is not known.
    ///   - isMultiplexed: Whether the connection carries several requests at once.
    case answered(firstByte: Double?, isMultiplexed: Bool)
    /// It sent nothing until the time was over.
    case silent
    /// Nothing.
    case unknown
  }

  /// How long a download may take, in milliseconds.
  package struct Budget: Equatable, Sendable {
    /// Until there is a connection.
    package let connect: Int
    /// As a whole; nil for as long as any other.
    package let total: Int?
  }

  /// Whether it has ever answered.
  package private(set) var hasAnswered = false

  /// How often in a row it was silent, of tries that began one after the other.
  package private(set) var silences = 0

  /// Whether it has answered, and was not silent since.
  package var answers: Bool { hasAnswered && silences == 0 }

  /// Whether it is taken to be down: a try that it does not answer is an entry's last.
  package private(set) var isGivenUp = false

  /// When it was first silent without an answer since, and last.
  private var since = 0
  private var last = 0

  /// Downloads at once from a host that has not answered.
  static let probes = 2

  /// A host that has answered before is given up only after so long a silence.
  static let longestSilence = 60_000

  package init() {}

  /// How long the next download may take; nil for as long as any other.
  package var budget: Budget? {
    guard silences > 0 else { return nil }
    return Budget(connect: isGivenUp ? 1000 : 3000, total: hasAnswered ? nil : isGivenUp ? 3000 : 8000)
  }

  /// Forgets that it was silent.
  mutating func forgetSilences() { self = Self(hasAnswered: hasAnswered) }

  mutating func answered() { self = Self(hasAnswered: true) }

  private init(hasAnswered: Bool) { self.hasAnswered = hasAnswered }

  /// - Parameters:
  ///   - began: When the download started.
  ///   - retries: How often a download is tried again.
  mutating func silent(began: Int, now: Int, retries: Int) {
    guard silences == 0 || began >= last else { return }
    if silences == 0 { since = now }
    silences += 1
    last = now
    isGivenUp = silences > retries && (!hasAnswered || now - since >= Self.longestSilence)
  }

  /// The most downloads at once; `usual` is how many there may be of a host that answers.
  func room(_ places: HostPlaces, usual: Int) -> Int {
    if isGivenUp { return places.connections }
    if silences > 0 || !hasAnswered && !places.isFixed { return min(Self.probes, places.connections) }
    return usual
  }
}

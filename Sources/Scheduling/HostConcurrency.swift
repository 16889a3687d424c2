/// Finds how many downloads at once a host bears: fewer when its answers take several times as long as they did, and more
/// again once they do not.
///
/// The time to the first byte is averaged over a few answers. Its least average is the reference, as in TCP Vegas
/// (Brakmo, Peterson, 1994); it rises slowly, so that a host that has become slower for good is not kept down.
struct HostConcurrency: Equatable, Sendable {
  /// Whether one connection carries all downloads.
  private(set) var isMultiplexed = false

  /// Downloads at once, if that is less than what is allowed.
  private(set) var limit = Int.max

  private var best = Double.infinity
  private var sum = 0.0
  private var count = 0
  private var wasSlow = false

  /// Fewer than this are never found to be too many.
  static let least = 2

  /// With how many streams of one connection a host is asked first.
  static let firstStreams = 6

  func room(_ places: HostPlaces) -> Int {
    let most = isMultiplexed ? places.streams : places.connections
    return places.isFixed ? most : min(most, limit)
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
      // Not more than twice of what was tried.
      limit = wasSlow ? limit + 1 : min(limit, downloading) * 2
      if limit >= 1024 { limit = .max }
    }
  }
}

/// The latest news of whether hosts answer: whether the network may be down is a question of all hosts but the one that
/// fails.
struct HostNews {
  private var last: (host: Int, isAnswer: Bool)?

  /// The latest news of any host but that of `last`.
  private var other: Bool?

  /// Records that a host has answered, or that one has failed which has answered before.
  mutating func record(_ host: Int, isAnswer: Bool) {
    if let last, last.host != host { other = last.isAnswer }
    last = (host, isAnswer)
  }

  /// Whether the latest news is an answer; `false` without any.
  var isAnswer: Bool { last?.isAnswer ?? false }

  /// Whether the latest news of any other host is an answer; `false` without any.
  func othersAnswer(than host: Int) -> Bool { (last?.host == host ? other : last?.isAnswer) ?? false }
}

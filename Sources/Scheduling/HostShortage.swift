/// Why no download may start at a host.
package enum HostShortage: Equatable, Sendable {
  /// It has not answered yet, or not for a while, and is asked by few downloads.
  case silence
  /// It does not answer any more, and one entry at a time tries whether it does again.
  case closed
  /// It has refused requests, and is asked less often since.
  case hold
  /// A rule wants time between two requests.
  case interval
  /// As many downloads run as a rule allows.
  case rule(Int)
  /// As many downloads run as at any host.
  case places(Int)

  /// Of several hosts that have no room the one counts that something could be done about: the greater.
  var rank: Int {
    switch self {
    case .silence: 0
    case .closed: 1
    case .hold: 2
    case .interval: 3
    case .rule: 4
    case .places: 5
    }
  }
}

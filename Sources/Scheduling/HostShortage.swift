/// Why no download may start at a host.
package enum HostShortage: Equatable, Sendable {
  /// It has not answered yet, or not for a while, and is asked by few downloads.
  case silence
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
    case .hold: 1
    case .interval: 2
    case .rule: 3
    case .places: 4
    }
  }
}

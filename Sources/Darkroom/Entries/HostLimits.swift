import Model
import Scheduling
import Transfer

extension HostSettings {
  /// The settings of a try with a time limit.
  /// - Parameter left: The remaining time for all tries of the entry, in seconds; nil without a limit.
  init(_ budget: HostBreaker.Budget, _ configuration: TransferConfiguration, left: Double?) {
    self.init()
    if budget != .usual { firstByteTimeout = configuration.firstByteTimeout ?? configuration.connectTimeout }
    if case .short(let milliseconds) = budget {
      connectTimeout = min(configuration.connectTimeout, .milliseconds(milliseconds))
    }
    timeLeft = left.map { .seconds(max(0.001, $0)) }
  }
}

extension FailureCode {
  /// Whether the failure may be caused by too many downloads at once.
  var mayBeOverload: Bool {
    switch self {
    case .download(.connect), .download(.timeout), .io: true
    default: false
    }
  }
}

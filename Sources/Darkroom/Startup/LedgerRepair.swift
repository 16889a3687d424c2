import Model
import System

extension Darkroom {
  /// Runs a command, and starts it once more when the ledger turns out to be damaged. After a clean end it is not
  /// checked, so that damage is found when a row is read. The second start checks the ledger, sets it aside, and makes
  /// a new one from its intact rows.
  /// - Parameter work: The command.
  /// - Throws: The errors of `init`, `run` and `watchInbox`; the second error if the ledger is damaged again.
  package static func repairingLedger(
    configuration: Configuration, retry: LocalRetry, observe: @escaping (Event) -> Void,
    _ work: (Darkroom) throws -> Summary
  ) throws -> Summary {
    guard DescriptorLimit.current >= DescriptorLimit.least else {
      throw StopError.limit(
        "at most \(DescriptorLimit.current) files may be open at once, and \(DescriptorLimit.least) are needed: raise the hard limit "
          + "(ulimit -Hn, LimitNOFILE)")
    }
    func attempt() throws -> (Summary, damage: (any Error)?) {
      let darkroom = try Darkroom(configuration: configuration, retry: retry, observe: observe)
      do {
        return (try work(darkroom), nil)
      } catch let damage where darkroom.mayRepair(after: damage) {
        return (darkroom.summary, damage)
      }
    }
    let (first, damage) = try attempt()
    guard damage != nil else { return first }
    let (second, again) = try attempt()
    if let again { throw again }
    return second.adding(first)
  }
}

extension Darkroom.Summary {
  /// The outcome of the jobs of both starts. `isUnfinished` and `ignored` are those of this one.
  fileprivate func adding(_ earlier: Self) -> Self {
    Self(
      states: states.union(earlier.states), hadTrouble: hadTrouble || earlier.hadTrouble,
      isMissing: isMissing || earlier.isMissing, isUnfinished: isUnfinished, ignored: ignored)
  }
}

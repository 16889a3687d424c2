import Ledger
import Model

extension Darkroom {
  /// Does the work of a command, and starts it once more when the ledger turns out to be damaged: after a clean end it is not
  /// checked, so that the damage shows when a row is read. The second start checks it, sets it aside, and makes a new one from
  /// what is left.
  /// - Parameter work: What the command does.
  /// - Throws: As `init`, `run` and `watchInbox`; when the ledger is damaged again, that.
  package static func repairingLedger(
    configuration: Configuration, retry: LocalRetry, observe: @escaping (Event) -> Void,
    _ work: (Darkroom) throws -> Summary
  ) throws -> Summary {
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
  /// What the jobs of both came to; what is left is that of this one.
  fileprivate func adding(_ earlier: Self) -> Self {
    Self(
      states: states.union(earlier.states), hadTrouble: hadTrouble || earlier.hadTrouble,
      isMissing: isMissing || earlier.isMissing, isUnfinished: isUnfinished, ignored: ignored)
  }
}

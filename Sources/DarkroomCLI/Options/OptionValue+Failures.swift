import Darkroom

extension OptionValue where Value == FailureAcceptance {
  /// Which failures are accepted: `known`, a number of entries, or a share of them.
  static var failures: OptionValue {
    OptionValue(name: "known|N|N%") { text in
      if text.lowercased() == "known" { return .known }
      if let rows = Int(text), rows >= 0 { return .rows(rows) }
      if text.hasSuffix("%"), let share = Double(text.dropLast()), (0...100).contains(share) { return .percent(share) }
      throw UsageError("must be known, a number of entries, or a share of them from 0% to 100%, not \"\(text)\"")
    } text: { value in
      switch value {
      case .known: "known"
      case .rows(let rows): String(rows)
      case .percent(let share): "\(share)%"
      }
    }
  }
}

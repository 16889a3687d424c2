import System

/// How the value of an option is parsed and printed.
struct OptionValue<Value: Sendable>: Sendable {
  /// The value's name in the help, such as `SECONDS`; nil for a flag, which needs no value on the command line.
  let name: String?

  /// The range of values, for the help; nil when the name says enough.
  var limits: String?

  /// Whether repeated values add up.
  var isRepeatable = false

  /// Reads a value.
  /// - Throws: `UsageError` with a message that continues the option's name and says what a value must be.
  let parse: @Sendable (String) throws -> Value

  /// Reads a value that depends on other settings. Default: nil, `parse` reads it.
  var parseBeside: (@Sendable (String, Settings) throws -> Value)?

  /// Prints a value in the form that `parse` reads; nil for the value that is set by leaving the option out.
  let text: @Sendable (Value) -> String?

  /// Combines the setting with a parsed value. Default: the value.
  var combined: @Sendable (Value, Value) -> Value = { $1 }

  /// The same for a setting that may be nil.
  var optional: OptionValue<Value?> {
    var value = OptionValue<Value?>(name: name, limits: limits, isRepeatable: isRepeatable, parse: parse) { [text] in
      $0.flatMap(text)
    }
    value.parseBeside = parseBeside
    return value
  }

  /// The same for another type of setting.
  func mapped<Other>(
    _ other: @escaping @Sendable (Value) -> Other, back: @escaping @Sendable (Other) -> Value
  ) -> OptionValue<Other> {
    OptionValue<Other>(name: name, limits: limits, isRepeatable: isRepeatable) { [parse] in
      other(try parse($0))
    } text: { [text] in
      text(back($0))
    }
  }
}

extension OptionValue where Value == Bool {
  /// A flag is on with `1`, `true`, `yes` or `on`, and off with `0`, `false`, `no`, `off` or nothing; letters' case is ignored.
  /// On the command line it needs no value, which counts as `1`, and one follows after a `=` only.
  static var flag: OptionValue {
    OptionValue(name: nil) { text in
      switch text.lowercased() {
      case "1", "true", "yes", "on": return true
      case "0", "false", "no", "off", "": return false
      default: throw UsageError("must be 1, true, yes or on, or else 0, false, no or off; not \"\(text)\"")
      }
    } text: {
      $0 ? "1" : nil
    }
  }
}

extension OptionValue where Value == Settings.Verbosity {
  /// A flag that sets the level; when it is off, another level does not change.
  static func flag(_ level: Value) -> OptionValue {
    OptionValue(name: nil) {
      try OptionValue<Bool>.flag.parse($0) ? level : .normal
    } text: { _ in
      nil
    } combined: {
      $1 == .normal && $0 != level ? $0 : $1
    }
  }
}

extension OptionValue where Value == String {
  static func text(_ name: String) -> OptionValue { OptionValue(name: name, parse: { $0 }, text: { $0 }) }
}

extension OptionValue where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  /// One of several words; letters' case is ignored.
  static var choice: OptionValue {
    let words = Value.allCases.map(\.rawValue)
    return OptionValue(name: words.joined(separator: "|")) { text in
      guard let value = Value(rawValue: text.lowercased()) else {
        let nearest = NearestName.nearest(to: text, among: words).map { "; did you mean \"\($0)\"?" }
        throw UsageError("must be one of \(words.joined(separator: ", ")), not \"\(text)\"" + (nearest ?? ""))
      }
      return value
    } text: {
      $0.rawValue
    }
  }
}

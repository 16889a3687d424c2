import Model

extension OptionValue where Value == Int {
  static func whole(_ range: ClosedRange<Int>) -> OptionValue {
    OptionValue(name: "N", limits: "\(range.lowerBound) to \(range.upperBound)") { text in
      guard let value = Int(text), range.contains(value) else {
        throw UsageError("must be a whole number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\"")
      }
      return value
    } text: {
      String($0)
    }
  }

  /// A number of bytes; `K`, `M` and `G` mean powers of 1024.
  static var bytes: OptionValue {
    scaled("BYTES", by: 1024, from: 0, what: "a number of bytes such as 300000, 64K, 256M or 2G")
  }

  /// A number of bytes per second, at least 1; `K`, `M` and `G` mean powers of 1024.
  static var rate: OptionValue {
    scaled("BYTES", by: 1024, from: 1, what: "a number of bytes per second such as 300000, 64K or 2M")
  }

  /// A number of pixels, at least 1; `K`, `M` and `G` mean powers of 1000.
  static var pixels: OptionValue {
    scaled("N", by: 1000, from: 1, what: "a number of pixels such as 4000000, 40M or 1G")
  }

  private static func scaled(_ name: String, by base: Int, from least: Int, what: String) -> OptionValue {
    let units = ["", "K", "M", "G"]
    return OptionValue(name: name) { text in
      let power = units.firstIndex(of: text.suffix(1).uppercased()) ?? 0
      guard let number = Int(power == 0 ? text[...] : text.dropLast()), number >= 0 else {
        throw UsageError("must be \(what), not \"\(text)\"")
      }
      let factor = (0..<power).reduce(1) { product, _ in product * base }
      let (value, overflow) = number.multipliedReportingOverflow(by: factor)
      guard !overflow else { throw UsageError("must be \(what); \"\(text)\" is too large") }
      guard value >= least else { throw UsageError("must be at least \(least)") }
      return value
    } text: { value in
      var (number, power) = (value, 0)
      while number > 0, number.isMultiple(of: base), power + 1 < units.count {
        number /= base
        power += 1
      }
      return "\(number)\(units[power])"
    }
  }
}

extension OptionValue where Value == Double {
  /// A number of seconds. `s`, `m`, `h` and `d` mean seconds, minutes, hours and days.
  /// - Parameter most: Default: 1e9, which means no limit.
  static func seconds(from least: Double, to most: Double = 1e9) -> OptionValue {
    let range = most < 1e9 ? "from \(least.plain) to \(most.plain)" : "of at least \(least.plain)"
    return OptionValue(name: "SECONDS", limits: least > 0 ? "at least \(least.plain)" : nil) { text in
      guard let value = Double(duration: text), value.isFinite, value >= least, value <= most else {
        throw UsageError("must be a number of seconds \(range), not \"\(text)\"")
      }
      return value
    } text: {
      $0.plain
    }
  }

  /// The same, for times that are usually hours.
  static func duration(from least: Double) -> OptionValue {
    OptionValue(name: "DURATION") { text in
      guard let value = Double(duration: text), value.isFinite, value >= least, value <= 1e9 else {
        throw UsageError("must be a time such as 90, 90s, 15m, 8h or 2d, at least \(least.plain) s, not \"\(text)\"")
      }
      return value
    } text: {
      $0.plain
    }
  }
}

extension OptionValue where Value == Duration {
  /// A number of seconds, 1e9 at most.
  static func seconds(from least: Double) -> OptionValue {
    OptionValue<Double>.seconds(from: least).mapped({ .seconds($0) }, back: { $0 / .seconds(1) })
  }
}

extension Double {
  /// Reads a number of seconds, or of another unit: `s`, `m`, `h` or `d`.
  fileprivate init?(duration text: String) {
    let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86400]
    // Without a unit, the number may end in a letter, as in `inf`.
    if let seconds = Double(text) {
      self = seconds
    } else if let unit = text.last.flatMap({ units[$0] }), let number = Double(text.dropLast()) {
      self = number * unit
    } else {
      return nil
    }
  }

  /// The number, without a decimal point when it is whole, in any locale.
  fileprivate var plain: String { Int(exactly: self).map(String.init) ?? String(self) }
}

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

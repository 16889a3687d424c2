import Foundation

/// Names a run of a job: its time, so that names sort, and something random, so that they differ.
enum RunID {
  static func make(at date: Date = Date()) -> String {
    let format = Date.ISO8601FormatStyle(
      dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted,
      timeZoneSeparator: .omitted, includingFractionalSeconds: false)
    let random = String(UInt32.random(in: .min ... .max), radix: 16)
    return date.formatted(format) + "-" + String(repeating: "0", count: 8 - random.count) + random
  }

  /// Whether a text may be the name of a folder of `history`.
  static func isValid(_ text: String) -> Bool {
    (8...64).contains(text.utf8.count) && text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || isAlphanumeric($0) }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
  }
}

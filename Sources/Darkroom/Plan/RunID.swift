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
}

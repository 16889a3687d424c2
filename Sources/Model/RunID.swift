import Foundation
import Synchronization

/// Makes the names of runs: the time, so that they sort, and a number, so that they are unique.
package enum RunID {
  /// The number of names made, beginning at a random number. Names made by one process at the same time differ.
  private static let count = Atomic(UInt32.random(in: 0 ... .max))

  /// - Parameter date: Its fraction, in units of 1/4096 s, becomes the first three of the eight digits.
  package static func make(at date: Date = Date()) -> String {
    let seconds = date.timeIntervalSince1970
    let fraction = UInt32((seconds - seconds.rounded(.down)) * 4096) << 20
    let date = Date(timeIntervalSince1970: seconds.rounded(.down))
    let format = Date.ISO8601FormatStyle(
      dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted,
      timeZoneSeparator: .omitted, includingFractionalSeconds: false)
    let number = count.wrappingAdd(1, ordering: .relaxed).newValue & (1 << 20 - 1)
    let digits = String(fraction | number, radix: 16)
    return date.formatted(format) + "-" + String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// Makes a name that sorts behind those of earlier runs, also after the clock was set back: then it has the time of the last of
  /// them and a second more.
  /// - Parameter earlier: Their names; those of another form do not count.
  package static func make(at date: Date = Date(), after earlier: some Sequence<String>) -> String {
    let name = make(at: date)
    guard let last = earlier.filter({ $0 >= name && isMade($0) }).max(), let began = Self.date(of: last) else {
      return name
    }
    let seconds = date.timeIntervalSince1970
    let later = make(at: began + 1 + (seconds - seconds.rounded(.down)))
    // The form has no year 10000.
    return isMade(later) ? later : name
  }

  /// Whether a text has the form of the names made here.
  package static func isMade(_ text: String) -> Bool { date(of: text) != nil }

  /// The time at which a run began, from its name.
  /// - Returns: nil for a name of another form.
  package static func date(of runID: String) -> Date? {
    let parts = runID.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].utf8.count == 8, parts[1].utf8.allSatisfy("0123456789abcdef".utf8.contains),
      parts[0].utf8.count == 16
    else { return nil }
    let format = Date.ISO8601FormatStyle(
      dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted, timeZoneSeparator: .omitted)
    return try? format.parse(String(parts[0]))
  }

  /// Whether a text may be the name of a folder of `history`.
  package static func isValid(_ text: String) -> Bool {
    (8...64).contains(text.utf8.count)
      && text.allSatisfy { $0 == "-" || $0.isASCII && ($0.isLetter || $0.isNumber) }
  }
}

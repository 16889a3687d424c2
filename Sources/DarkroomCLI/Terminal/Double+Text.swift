import Foundation
import System

extension Double {
  /// A number of seconds in the form of a clock: `0:42`, `1:02:03`, `3 d 4 h`.
  var clockText: String {
    guard isFinite, self < 1e9 else { return "long" }
    let seconds = Int(max(0, self))
    let (minutes, hours) = (seconds / 60, seconds / 3600)
    func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
    if hours >= 48 { return "\(hours / 24) d \(hours % 24) h" }
    if hours > 0 { return "\(hours):\(two(minutes % 60)):\(two(seconds % 60))" }
    return "\(minutes):\(two(seconds % 60))"
  }

  /// A rate of entries: `38/s`, `3.2/s`, `0.05/s`.
  var rateText: String {
    let digits = self >= 10 ? 0 : self >= 1 ? 1 : 2
    return String(format: "%.\(digits)f/s", self)
  }

  /// A rate of bytes: `4.1 MiB/s`.
  var byteRateText: String { ByteCount(Int(min(self, 1e15))).description + "/s" }
}

import CCurl
import Glibc

/// Parses the value of a `Retry-After` header (RFC 9110, section 10.2.3): a number of seconds, with or without a fraction,
/// or an HTTP date in any of its three forms (`curl_getdate`).
/// - Parameters:
///   - value: The header's value, without surrounding white space.
///   - now: The current time, in seconds since 1970.
/// - Returns: Seconds from `now`: 0 for a time in the past, 2³¹ - 1 at most; `nil` for a value that is neither.
func retryAfterSeconds(_ value: String, now: Double) -> Double? {
  if value.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }) {
    return Double(value).map(clamped)
  }
  let date = curl_getdate(value, nil)
  return date < 0 ? nil : clamped(Double(date) - now)
}

private func clamped(_ seconds: Double) -> Double { min(max(0, seconds), Double(Int32.max)) }

/// The current time in seconds since 1970 (`clock_gettime`).
func unixTime() -> Double {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
}

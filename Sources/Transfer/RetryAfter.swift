import CCurl
import Glibc

/// How long a server asks to be left alone: the value of a `Retry-After` header (RFC 9110, section 10.2.3).
///
/// A number of seconds, in which a fraction is tolerated, or an HTTP date in any of its three forms (`curl_getdate`).
/// - Parameters:
///   - value: The header's value, without white space around it.
///   - now: The present, in seconds since 1970.
/// - Returns: Seconds from `now`; 0 for what lies in the past, at most some 68 years; `nil` for what is neither.
func retryAfterSeconds(_ value: String, now: Double) -> Double? {
  if value.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }) {
    return Double(value).map(clamped)
  }
  let date = curl_getdate(value, nil)
  return date < 0 ? nil : clamped(Double(date) - now)
}

private func clamped(_ seconds: Double) -> Double { min(max(0, seconds), Double(Int32.max)) }

/// The present in seconds since 1970 (`clock_gettime`).
func unixTime() -> Double {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
}

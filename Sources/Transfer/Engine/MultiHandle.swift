import CCurl
import Glibc
import System

/// Owns a multi handle of libcurl: its connections, DNS cache and running transfers.
final class MultiHandle {
  private let raw: UnsafeMutableRawPointer

  /// The sockets of the connections. libcurl uses it until the handle is freed.
  let openConnections = OpenConnections()

  let tlsSessions: TLSSessions

  /// Creates a handle (`curl_multi_init`). Ends the program when memory is exhausted.
  /// - Parameter tlsSessions: The sessions of an earlier handle. Default: none.
  init(tlsSessions: TLSSessions = TLSSessions()) {
    self.tlsSessions = tlsSessions
    _ = Self.initialisedLibrary
    // Memory is exhausted: no transfer could run.
    guard let raw = curl_multi_init() else { fatalError("libcurl cannot make a multi handle") }
    self.raw = raw
    ccurl_multi_setopt_long(raw, CURLMOPT_MAXCONNECTS, Self.maxConnections)
  }

  deinit { curl_multi_cleanup(raw) }

  func add(_ easy: EasyHandle) -> Bool { curl_multi_add_handle(raw, easy.raw) == CURLM_OK }

  /// Removes a transfer, finished or not.
  func remove(_ easy: EasyHandle) { curl_multi_remove_handle(raw, easy.raw) }

  /// Advances all transfers as far as possible without waiting.
  func perform() {
    var running: Int32 = 0
    curl_multi_perform(raw, &running)
  }

  /// The next transfer that libcurl has finished, and its result.
  func nextFinished() -> (easy: UnsafeMutableRawPointer, code: CURLcode)? {
    var left: Int32 = 0
    while let message = curl_multi_info_read(raw, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
      return (easy, message.pointee.data.result)
    }
    return nil
  }

  /// Waits until a socket or another descriptor is readable, or one of libcurl's own timers is due.
  /// - Parameter seconds: The longest wait; an hour at most.
  /// - Returns: Whether the other descriptor is readable.
  func poll(alongside descriptor: Int32, seconds: Double) -> Bool {
    var other = curl_waitfd(fd: descriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0)
    curl_multi_poll(raw, &other, 1, Int32(min(max(0, seconds * 1000), 3_600_000).rounded(.up)), nil)
    return other.revents != 0
  }

  /// The number of kept connections, in use or not, before the one that is idle for longest is closed: a quarter of the files
  /// that the process may open besides the 64 that it always needs, from 4 to 512. The rest is for entries, see
  /// `AdmissionWindow`. libcurl closes a connection that was idle for two minutes when it would reuse it. More than 512 cost more
  /// than they save: libcurl visits all of them for each that it closes, and polls half of them for each that a server has closed.
  private static var maxConnections: Int { min(max((DescriptorLimit.current - 64) / 4, 4), 512) }

  private static let initialisedLibrary: Void = {
    precondition(curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK, "libcurl cannot be initialised")
  }()
}

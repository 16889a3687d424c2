import CCurl

/// Owns a multi handle of libcurl: the connections, the DNS answers, and the transfers under way.
final class MultiHandle: @unchecked Sendable {  // only `wake` is called off the engine's thread, as libcurl allows
  private let raw: UnsafeMutableRawPointer

  /// Creates a handle (`curl_multi_init`). Ends the program when memory is exhausted.
  /// - Parameter perHost: How many connections one host may have.
  init(perHost: Int) {
    _ = Self.initialisedLibrary
    // Memory is exhausted: nothing could be done without any.
    guard let raw = curl_multi_init() else { fatalError("libcurl cannot make a multi handle") }
    self.raw = raw
    ccurl_multi_setopt_long(raw, CURLMOPT_MAX_HOST_CONNECTIONS, perHost)
    ccurl_multi_setopt_long(raw, CURLMOPT_MAXCONNECTS, 64)
  }

  deinit { curl_multi_cleanup(raw) }

  /// Starts a transfer.
  func add(_ easy: EasyHandle) -> Bool { curl_multi_add_handle(raw, easy.raw) == CURLM_OK }

  /// Ends a transfer, finished or not.
  func remove(_ easy: EasyHandle) { curl_multi_remove_handle(raw, easy.raw) }

  /// Moves all transfers on as far as they go without waiting.
  func perform() {
    var running: Int32 = 0
    curl_multi_perform(raw, &running)
  }

  /// The next transfer that libcurl has finished with, and how it ended.
  func nextFinished() -> (easy: UnsafeMutableRawPointer, code: CURLcode)? {
    var left: Int32 = 0
    while let message = curl_multi_info_read(raw, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
      return (easy, message.pointee.data.result)
    }
    return nil
  }

  /// Sleeps until a socket is ready, one of libcurl's own timers is due, or `wake` is called; an hour at the longest.
  func poll() {
    curl_multi_poll(raw, nil, 0, 3_600_000, nil)
  }

  /// Ends a sleep, now or the next one. May be called from any thread.
  func wake() { curl_multi_wakeup(raw) }

  private static let initialisedLibrary: Void = {
    precondition(curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK, "libcurl cannot be initialised")
  }()
}

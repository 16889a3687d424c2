import CCurl
import System

/// A POST of JSON to a webhook, over a connection of its own. Redirects are not followed.
package struct WebhookRequest {
  package let webhook: Webhook
  package let body: String

  /// Header fields besides the usual ones, such as `Darkroom-Id: …`.
  package let fields: [String]

  /// Supplies user agent, proxies and trusted certificates.
  package let configuration: TransferConfiguration

  /// The time limits for the connection and for everything.
  var connectTimeout = Duration.seconds(10)
  var timeout = Duration.seconds(30)

  /// The bytes of an answer that are read; nothing is done with them.
  private static let maxBytes = 64 << 10

  package enum Answer: Sendable, Equatable {
    /// The status of the response, and how long the receiver asks to wait, in seconds.
    case status(Int, retryAfter: Double? = nil)
    /// There was no response. The reason has no secrets.
    case noAnswer(String)
    /// The caller has ended the wait.
    case cancelled
  }

  package init(_ body: String, fields: [String], to webhook: Webhook, configuration: TransferConfiguration) {
    (self.body, self.fields, self.webhook, self.configuration) = (body, fields, webhook, configuration)
  }

  /// Sends the request, and waits for the status of the response.
  /// - Parameter wait: Calls its argument, which waits for up to a second with `Mailbox.wait(by:)`; returns whether to go on.
  package func send(wait: (_ watch: (_ descriptor: Int32) -> Bool) -> Bool) -> Answer {
    let (multi, easy) = (MultiHandle(), EasyHandle())
    // libcurl keeps the pointer as long as the request runs.
    var received = 0
    return withUnsafeMutablePointer(to: &received) { received in
      let headers = prepare(easy, counting: received)
      return withExtendedLifetime(headers) {
        if let refusal = easy.refusal { return .noAnswer(refusal) }
        guard multi.add(easy) else { return .noAnswer("libcurl does not begin the request") }
        defer { multi.remove(easy) }
        while true {
          multi.perform()
          if let (_, code) = multi.nextFinished() { return answer(code, easy) }
          guard wait({ multi.poll(alongside: $0, seconds: 1) }) else { return .cancelled }
        }
      }
    }
  }

  private func prepare(_ easy: EasyHandle, counting received: UnsafeMutablePointer<Int>) -> HeaderList {
    if let folder = easy.configure(configuration) {
      for option in [CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH] { easy.set(option, folder) }
    }
    easy.set(CURLOPT_URL, webhook.location.requestText)
    let proxy = configuration.proxies.proxy(
      forScheme: webhook.location.scheme.rawValue, host: webhook.location.host)
    easy.set(CURLOPT_PROXY, proxy ?? "")
    easy.set(CURLOPT_CONNECTTIMEOUT_MS, connectTimeout.wholeMilliseconds)
    easy.set(CURLOPT_TIMEOUT_MS, timeout.wholeMilliseconds)
    easy.set(CURLOPT_WRITEFUNCTION, discardBody)
    easy.set(CURLOPT_WRITEDATA, UnsafeMutableRawPointer(received))
    easy.setBody(body)
    // Turns off "Expect: 100-continue", to which some servers never respond.
    return easy.setHeaders(["Content-Type: application/json", "Expect:"] + fields)
  }

  /// Once there is a status, it counts, however the response goes on.
  private func answer(_ code: CURLcode, _ easy: EasyHandle) -> Answer {
    guard let status = easy.long(CURLINFO_RESPONSE_CODE), status >= 200 else {
      return .noAnswer(TransferError.reason(code, detail: easy.errorText))
    }
    let asked = easy.offset(CURLINFO_RETRY_AFTER).flatMap { $0 > 0 ? Double($0) : nil }
    return .status(status, retryAfter: asked)
  }

  fileprivate static func mayReceive(_ count: Int, _ received: UnsafeMutablePointer<Int>) -> Bool {
    received.pointee += count
    return received.pointee <= maxBytes
  }
}

private let discardBody: curl_write_callback = { _, size, count, context in
  guard let context else { return 0 }
  let received = context.assumingMemoryBound(to: Int.self)
  return WebhookRequest.mayReceive(size * count, received) ? size * count : 0
}

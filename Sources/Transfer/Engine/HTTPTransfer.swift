import System
import CCurl

/// A running http or https transfer: one request, and another for each redirect. Used on the engine's thread only;
/// libcurl's callbacks hold its address.
final class HTTPTransfer {
  let queued: QueuedTransfer
  let easy: EasyHandle

  /// What the current request asks for: the transfer's location, or the target of the last redirect.
  private(set) var location: SourceLocation

  /// Method, header fields and content of the current request; redirects change them.
  private var request: SourceRequest

  /// The host whose slot in the `HostGate` the transfer occupies.
  var slotHost: String

  private let configuration: TransferConfiguration
  private let openConnections: OpenConnections
  private var connection: RequestConnection
  private var response: ResponseReceiver
  private var redirects = 0
  private var requests = RequestCount()

  /// How long the requests so far took, without the time between them; in seconds.
  private var seconds = 0.0

  /// libcurl's copies of header fields and form, kept as long as the current request runs.
  private var headerList: HeaderList?
  private var form: MIMEForm?

  /// Prepares the first request.
  /// - Throws: Why it must not be sent.
  init(
    _ queued: QueuedTransfer, easy: EasyHandle, configuration: TransferConfiguration, openConnections: OpenConnections
  ) throws(TransferError) {
    self.queued = queued
    self.easy = easy
    self.configuration = configuration
    self.openConnections = openConnections
    location = queued.request.location
    request = queued.request.request
    slotHost = location.host ?? ""
    response = ResponseReceiver(queued.request, maxBytes: configuration.maxBytes)
    connection = RequestConnection(
      to: location, easy: easy, configuration: configuration, openConnections: openConnections)
    easy.configure(configuration)
    easy.setCallbacks(of: self, openConnections)
    try prepareRequest()
  }

  // MARK: The request

  /// Sets the handle up to ask for `location` over `connection`.
  private func prepareRequest() throws(TransferError) {
    // Validators are sent only to the URL that returned them.
    let validators = request.isCacheable ? queued.request.validators : nil
    let isConditional = validators.map { $0.urlDigest == MessageDigest.hexDigest(of: location.requestText) } ?? false
    response.beginResponse(isConditional: isConditional)
    if connection.proxy != nil, let address = location.literalAddress {
      // The proxy opens the connection, so that no socket callback sees the address.
      if case .refused(let reason) = configuration.addressPolicy.verdict(for: address) {
        throw TransferError(.addressNotAllowed, "\(source): \(reason)", finalURL: finalURL)
      }
    }
    let left = configuration.timeout - .seconds(seconds)
    guard left > .zero else { throw TransferError(.timeout, "\(source): redirects took all of the time allowed") }
    easy.set(CURLOPT_URL, location.requestText)
    easy.set(CURLOPT_PROXY, connection.proxy ?? "")
    easy.set(CURLOPT_FRESH_CONNECT, connection.isNew ? 1 : 0)
    let conditions = isConditional ? validators?.fields ?? [] : []
    // Turns off "Expect: 100-continue", to which some servers never respond.
    let expect = request.content == nil ? [] : ["Expect:"]
    headerList = easy.setHeaders(conditions + expect + request.headers.map(\.line))
    form = easy.setContent(of: request)
    easy.set(CURLOPT_TIMEOUT_MS, left.wholeMilliseconds)
    if let refusal = easy.refusal { throw TransferError(.network, refusal) }
  }

  // MARK: libcurl's callbacks

  /// Takes a line of a header. Returns whether to continue.
  func receive(header line: UnsafeRawBufferPointer) -> Bool { response.receive(header: line) }

  /// Takes a piece of a body. Returns whether to continue.
  func receive(body piece: UnsafeRawBufferPointer) -> Bool { response.receive(body: piece) }

  /// Counts bytes of a body that arrived, whether or not libcurl delivers them.
  func countArrived(_ bytes: Int) {
    response.countArrived(bytes)
    // The transfer still has the connection, so that it can be examined.
    if response.isBodyComplete, connection.hasUnreadBytes { response.countArrived(1) }
  }

  /// Opens a socket for an address that may be connected to; -1 otherwise.
  func openSocket(for address: UnsafePointer<curl_sockaddr>) -> curl_socket_t { connection.openSocket(for: address) }

  /// Whether the request may be sent over the connection that libcurl chose.
  func maySendRequest(over endpoints: OpenConnections.Endpoints) -> Bool { connection.maySendRequest(over: endpoints) }

  // MARK: The next step

  /// What follows a finished request.
  enum Step {
    case ended(Result<TransferOutcome, TransferError>)
    /// The handle is set up for another request for `location`, which may be new.
    case nextRequest
  }

  /// Decides what follows, once libcurl has finished with a request.
  func step(after code: CURLcode) -> Step {
    seconds += Double(easy.offset(CURLINFO_TOTAL_TIME_T) ?? 0) / 1e6
    if easy.long(CURLINFO_REQUEST_SIZE) ?? 0 > 0 {
      requests.sent += 1
      requests.reused += easy.long(CURLINFO_NUM_CONNECTS) == 0 ? 1 : 0
    }
    if code == CURLE_OK { connection.endRequest() }
    do throws(TransferError) {
      return try needsNextRequest(after: code) ? .nextRequest : .ended(.success(try outcome(code)))
    } catch {
      return .ended(.failure(completed(error)))
    }
  }

  private func needsNextRequest(after code: CURLcode) throws(TransferError) -> Bool {
    if connection.hasUnexpectedBytes {
      try prepareNextRequest(overNewConnection: true)
    } else if let target = response.redirectTarget, code == CURLE_OK || response.isBodySkipped {
      try follow(target)
    } else {
      return false
    }
    return true
  }

  private func follow(_ target: String) throws(TransferError) {
    guard redirects < configuration.maxRedirects else {
      throw TransferError(
        .tooManyRedirects, "max-redirects is \(configuration.maxRedirects); \(source) redirects more often")
    }
    redirects += 1
    let origin = location.origin
    do throws(TransferError) {
      location = try location.redirected(to: target)
    } catch {
      throw TransferError(error.code, "\(source) redirects to \(error.message)")
    }
    request = request.redirected(status: response.header.status, leavesOrigin: location.origin != origin)
    try prepareNextRequest(overNewConnection: false)
  }

  private func prepareNextRequest(overNewConnection isNew: Bool) throws(TransferError) {
    connection = RequestConnection(
      to: location, isNew: isNew, easy: easy, configuration: configuration, openConnections: openConnections)
    try prepareRequest()
  }

  // MARK: The result

  /// The transfer's location as messages name it.
  private var source: String { queued.request.location.redacted }

  private var finalURL: String { redacted(location.requestText, valid: true) }

  private func outcome(_ code: CURLcode) throws(TransferError) -> TransferOutcome {
    if let failure = response.failure { throw failure }
    let header = response.header
    guard code == CURLE_OK, header.status == 200 || response.isNotModified else {
      throw TransferError(
        code, detail: easy.errorText, systemError: easy.systemError, refusal: connection.refusal,
        location: queued.request.location)
    }
    try response.checkLength()
    return TransferOutcome(
      httpStatus: header.status, validators: header.validators(of: location.requestText),
      mayBeStored: !header.forbidsStoring, finalURL: finalURL, bytes: response.body.bytes,
      sha256: try response.isNotModified ? "" : response.body.finish(), contentType: easy.string(CURLINFO_CONTENT_TYPE),
      requests: requests, seconds: seconds)
  }

  /// The error with what is known of the transfer.
  private func completed(_ error: TransferError) -> TransferError {
    var error = error
    let header = response.header
    error.finalURL = finalURL
    error.httpStatus = header.status == 0 ? nil : header.status
    if error.code == .httpStatus, error.isRetryable, let value = header.retryAfter {
      error.retryAfter = retryAfterSeconds(value, now: unixTime())
    }
    error.bytes = response.body.bytes + response.discardedBytes
    error.requests = requests
    return error
  }
}

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

  /// What applies to the host of the first request only. `nil` after a redirect to another origin.
  private(set) var hostSettings: HostSettings?

  /// The host whose slot in the `HostGate` the transfer occupies.
  var slotHost: String

  /// Whether it is too slow to keep others of its host from a slot. It remains so, also at the host of a redirect.
  var isSlow = false

  /// The name to resolve for the current request, and the port. `nil`: the host is an address, or a proxy resolves it.
  private(set) var name: (name: String, port: String)?

  /// When the transfer began to wait for its name, as `Clock.monotonicSeconds`.
  var waitingSince = 0.0

  /// Whether the host was known to speak HTTP/2 when the current request began.
  var couldShare = false

  /// Whether its speed, and the time until the body begins, say something of the server: it has the connection for itself,
  /// or shares it with none that are paused.
  var isTimed = true

  /// Limits how long the current request waits for the first byte of its body.
  private(set) var firstByte = FirstByteWait.notSent

  /// Limits how fast the body of the current request may arrive. `nil`: there is no limit.
  var limiter: RateLimiter<UnsafeMutableRawPointer>?

  private let configuration: TransferConfiguration
  private let openConnections: OpenConnections
  private let tlsSessions: TLSSessions
  private let certificateFolder: String?
  private var connection: RequestConnection
  private var response: ResponseReceiver
  private var redirects = 0
  private var requests = RequestCount()

  /// How long the requests so far took, without the time between them; in seconds.
  private var seconds = 0.0

  /// libcurl's copies of header fields and form, kept as long as the current request runs.
  private var headerList: HeaderList?
  private var form: MIMEForm?
  private var addressList: HeaderList?

  /// Whether a line of a header has arrived.
  private var isAnswered = false

  /// Prepares the first request.
  /// - Throws: Why it must not be sent.
  init(
    _ queued: QueuedTransfer, easy: EasyHandle, configuration: TransferConfiguration, openConnections: OpenConnections,
    tlsSessions: TLSSessions
  ) throws(TransferError) {
    self.queued = queued
    self.easy = easy
    self.configuration = configuration
    self.openConnections = openConnections
    self.tlsSessions = tlsSessions
    location = queued.request.location
    request = queued.request.request
    hostSettings = queued.request.settings
    slotHost = location.host ?? ""
    response = ResponseReceiver(queued.request, maxBytes: configuration.maxBytes)
    connection = RequestConnection(
      to: location, easy: easy, configuration: configuration, openConnections: openConnections)
    certificateFolder = easy.configure(configuration)
    easy.setCallbacks(of: self, openConnections)
    try prepareRequest()
  }

  // MARK: The request

  /// Sets the handle up to ask for `location` over `connection`.
  private func prepareRequest() throws(TransferError) {
    // Validators are sent only to the URL, or within the scope, that returned them.
    let validators = request.isCacheable ? queued.request.validators : nil
    let isConditional = validators.map { $0.urlDigest == MessageDigest.hexDigest(of: validatorScope) } ?? false
    response.beginResponse(
      isConditional: isConditional, redirectedTo: redirects == 0 ? nil : location.hostAndPath)
    if connection.proxy != nil, let address = location.literalAddress {
      // The proxy opens the connection, so that no socket callback sees the address.
      if let reason = configuration.addressPolicy.refusal(of: [address], isLocal: location.isLocalName) {
        throw TransferError(.addressNotAllowed, "\(source): \(reason)", finalURL: finalURL)
      }
    }
    name = connection.proxy == nil ? location.nameAndPort : nil
    firstByte = .notSent
    easy.set(CURLOPT_LOW_SPEED_LIMIT, 0)
    if addressList != nil { easy.set(CURLOPT_RESOLVE, nil) }
    addressList = nil
    easy.set(CURLOPT_URL, location.requestText)
    easy.set(CURLOPT_PROXY, connection.proxy ?? "")
    easy.set(CURLOPT_FRESH_CONNECT, connection.isNew ? 1 : 0)
    let conditions = isConditional ? validators?.fields ?? [] : []
    // Turns off "Expect: 100-continue", to which some servers never respond.
    let expect = request.content == nil ? [] : ["Expect:"]
    let fields = request.headers(with: hostSettings?.headers ?? [])
    headerList = easy.setHeaders(conditions + expect + fields.map(\.line))
    form = easy.setContent(of: request)
    if queued.request.settings.netrc != nil {
      easy.setNetrc(fields.contains(where: \.isAuthorization) ? nil : hostSettings?.netrc?.path)
    }
    try setTimeLimits(waited: 0)
    if let refusal = easy.refusal { throw TransferError(.network, refusal) }
  }

  /// Sets the time limits of the current request.
  /// - Parameter waited: How long it waited for its name, in seconds.
  private func setTimeLimits(waited: Double) throws(TransferError) {
    let left = timeout - .seconds(seconds)
    guard left > .zero else {
      throw TransferError(.timeout, "\(source): redirects and names took all of the time allowed")
    }
    easy.set(CURLOPT_TIMEOUT_MS, left.wholeMilliseconds)
    easy.set(CURLOPT_CONNECTTIMEOUT_MS, (connectTimeout - .seconds(waited)).wholeMilliseconds)
  }

  /// How long the whole transfer may take.
  private var timeout: Duration {
    let settings = queued.request.settings
    let timeout = settings.timeout ?? configuration.timeout
    return settings.timeLeft.map { min($0, timeout) } ?? timeout
  }

  /// How long resolving and connecting may take; at most what is left of `timeout`.
  var connectTimeout: Duration {
    min(queued.request.settings.connectTimeout ?? configuration.connectTimeout, timeout - .seconds(seconds))
  }

  /// How long the first byte of a body may take after its request was sent.
  var firstByteTimeout: Duration { queued.request.settings.firstByteTimeout ?? configuration.firstByteTimeout }

  /// Adopts what is known of the name of the current request.
  /// - Parameter now: As `Clock.monotonicSeconds`; `nil` when the transfer did not wait for it.
  /// - Throws: Why the request cannot be sent.
  func adopt(_ lookup: NameLookup, now: Double?) throws(TransferError) {
    guard let (name, port) = name else { return }
    do throws(TransferError) {
      switch lookup {
      case .addresses(let addresses): addressList = easy.setAddresses(addresses, of: name, port: port)
      case .notFound: throw TransferError(.hostNotFound, "\(source): there is no host \(name)")
      case .failed(let reason): throw TransferError(.dns, "\(source): \(name) cannot be resolved now: \(reason)")
      }
      if let now {
        seconds += now - waitingSince
        try setTimeLimits(waited: now - waitingSince)
      }
    } catch {
      throw completed(error)
    }
  }

  /// The error of a transfer that has waited for its name for too long.
  var resolvingTimeout: TransferError {
    let limit = (queued.request.settings.connectTimeout ?? configuration.connectTimeout) / .seconds(1)
    let text = "\(source): \(name?.name ?? "its host") was not resolved within connect-timeout, \(limit) s"
    var error = completed(TransferError(.timeout, text))
    error.isUnresolved = true
    return error
  }

  /// What validators of the present response belong to. The request's scope is for its own URL only: what a redirect leads
  /// to is the server's choice.
  private var validatorScope: String {
    redirects == 0 ? queued.request.validatorScope ?? location.requestText : location.requestText
  }

  // MARK: libcurl's callbacks

  /// Sets up the TLS context of a new connection. Returns whether it could be.
  func setUpTLS(_ context: OpaquePointer) -> Bool {
    // With a TLS session within another one it is not known which of them the context is for.
    let origin = connection.isProxyOverTLS ? nil : location.origin?.compactMap { $0 }.joined(separator: " ")
    return TLSContext(certificateFolder: certificateFolder, sessions: tlsSessions, origin: origin).attach(to: context)
  }

  /// Takes a line of a header. Returns whether to continue.
  func receive(header line: UnsafeRawBufferPointer) -> Bool {
    if !isAnswered {
      isAnswered = true
      queued.request.answered?()
    }
    return response.receive(header: line)
  }

  /// Whether the rates allow a piece of a body now. If not, the transfer pauses, and gets the piece again.
  func mayReceive(_ bytes: Int) -> Bool {
    guard let limiter else { return true }
    return limiter.receive(bytes, by: easy.raw, of: slotHost, now: Clock.monotonicSeconds)
  }

  /// Takes a piece of a body. Returns whether to continue.
  func receive(body piece: UnsafeRawBufferPointer) -> Bool { response.receive(body: piece) }

  /// Counts bytes of a body that arrived, whether or not libcurl delivers them.
  func countArrived(_ bytes: Int) {
    if firstByte != .came {
      firstByte = .came
      easy.set(CURLOPT_LOW_SPEED_LIMIT, isTimed ? configuration.lowSpeed : 0)
    }
    response.countArrived(bytes)
    queued.request.progress?.add(bytes)
    // The transfer still has the connection, so that it can be examined.
    if response.isBodyComplete, connection.hasUnreadBytes { response.countArrived(1) }
  }

  /// Takes in that a part of the request was sent: the wait for the answer begins.
  func hasSent() {
    guard isTimed, firstByte != .came else { return }
    firstByte = .awaited(until: Clock.monotonicSeconds + firstByteTimeout / .seconds(1))
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

  /// Ends a request whose body has not begun in time. libcurl still has it.
  func expire() -> Step {
    firstByte = .expired
    return step(after: CURLE_OPERATION_TIMEDOUT)
  }

  /// Decides what follows, once libcurl has finished with a request.
  func step(after code: CURLcode) -> Step {
    seconds += Double(easy.offset(CURLINFO_TOTAL_TIME_T) ?? 0) / 1e6
    if easy.long(CURLINFO_REQUEST_SIZE) ?? 0 > 0 {
      requests.sent += 1
      requests.reused += easy.long(CURLINFO_NUM_CONNECTS) == 0 ? 1 : 0
    }
    if code == CURLE_OK { connection.endRequest() }
    wasUnreachable =
      (code == CURLE_COULDNT_CONNECT || code == CURLE_OPERATION_TIMEDOUT) && easy.offset(CURLINFO_CONNECT_TIME_T) == 0
    lastAnswer = response.header.status == 0 ? nil : (isHTTP2, easy.long(CURLINFO_NUM_CONNECTS) == 0)
    do throws(TransferError) {
      return try needsNextRequest(after: code) ? .nextRequest : .ended(.success(try outcome(code)))
    } catch {
      return .ended(.failure(completed(error)))
    }
  }

  /// Whether the last request found no address of its host that could be connected to.
  private(set) var wasUnreachable = false

  /// How the last request was answered; `nil`: it was not.
  private(set) var lastAnswer: (isHTTP2: Bool, isReused: Bool)?

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
    let leavesOrigin = location.origin != origin
    if leavesOrigin { hostSettings = nil }
    request = request.redirected(status: response.header.status, leavesOrigin: leavesOrigin)
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
    if firstByte == .expired {
      let limit = firstByteTimeout / .seconds(1)
      throw TransferError(
        .timeout, "first-byte-timeout is \(limit) s; \(source) sent no byte of its content within that time")
    }
    let header = response.header
    guard code == CURLE_OK, header.status == 200 || response.isNotModified else {
      throw TransferError(
        code, detail: easy.errorText, systemError: easy.systemError, refusal: connection.refusal,
        location: queued.request.location)
    }
    try response.checkLength()
    return TransferOutcome(
      httpStatus: header.status, validators: header.validators(of: validatorScope),
      mayBeStored: !header.forbidsStoring, finalURL: finalURL, bytes: response.body.bytes,
      sha256: try response.isNotModified ? "" : response.body.finish(), contentType: easy.string(CURLINFO_CONTENT_TYPE),
      requests: requests, seconds: seconds, answer: answer)
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
    error.answer = answer
    return error
  }

  /// How the host answered the last request; nil when it did not.
  private var answer: HostAnswer? {
    guard response.header.status != 0, let began = easy.offset(CURLINFO_PRETRANSFER_TIME_T),
      let came = easy.offset(CURLINFO_STARTTRANSFER_TIME_T)
    else { return nil }
    return HostAnswer(firstByte: Double(max(0, came - began)) / 1e6, isHTTP2: isHTTP2)
  }

  private var isHTTP2: Bool { (easy.long(CURLINFO_HTTP_VERSION) ?? 0) >= CURL_HTTP_VERSION_2_0 }
}

import System
import CCurl

/// A running http or https transfer: one request, and another for each redirect. Used on the engine's thread only;
/// libcurl's callbacks hold its address.
final class HTTPTransfer {
  let queued: QueuedTransfer
  let easy: EasyHandle

  /// The location of the current request: that of the transfer, or the target of the last redirect.
  private(set) var location: SourceLocation

  /// Method, header fields and content of the current request; redirects change them.
  private var request: SourceRequest

  /// The settings for the host of the first request only. `nil` after a redirect to another origin.
  private(set) var hostSettings: HostSettings?

  /// The host whose slot in the `HostGate` the transfer occupies.
  var slotHost: String

  /// Whether it is too slow to keep others of its host from a slot. It stays so, also at the host of a redirect.
  var isSlow = false

  /// The name to resolve for the current request, and the port. `nil`: the host is an address, or a proxy resolves it.
  private(set) var name: (name: String, port: String)?

  /// When the transfer began to wait for its name, as `Clock.monotonicSeconds`.
  var waitingSince = 0.0

  /// Whether the current request may share a connection, and the host was known to use HTTP/2 when it began.
  var couldShare = false

  /// Whether the current request needs its own connection.
  var needsNewConnection: Bool { connection.isNew }

  /// Its time and time limits.
  private(set) var time: TransferTime

  private let configuration: TransferConfiguration
  private let openConnections: OpenConnections
  private let tlsSessions: TLSSessions
  private let certificateFolder: String?
  private var connection: RequestConnection
  private var response: ResponseReceiver
  private var redirects = 0
  private var requests = SentRequests()

  /// libcurl's copies of header fields and form, kept while the current request runs.
  private var headerList: HeaderList?
  private(set) var form: MIMEForm?
  private var addressList: HeaderList?

  /// Whether the rest of a body may be requested: not after an unusable answer.
  private var mayContinue = true

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
    request = queued.request.request.referring(to: location)
    hostSettings = queued.request.settings
    slotHost = location.host ?? ""
    time = TransferTime(queued.request.settings, configuration)
    response = ResponseReceiver(
      queued.request, maxBytes: configuration.maxBytes, begun: queued.request.partial?.take())
    connection = RequestConnection(
      to: location, isNew: request.needsNewConnection, easy: easy, configuration: configuration,
      openConnections: openConnections)
    certificateFolder = easy.configure(configuration)
    easy.setCallbacks(of: self, openConnections)
    try prepareRequest()
  }

  // MARK: The request

  /// Prepares the handle for a request for `location` over `connection`.
  private func prepareRequest() throws(TransferError) {
    let rest = restConditions
    // Validators are sent only to the URL, or within the scope, that returned them. A body that has begun to arrive has changed.
    let validators = request.isCacheable && rest.isEmpty ? queued.request.validators : nil
    let isConditional = validators.map { $0.urlDigest == MessageDigest.hexDigest(of: validatorScope) } ?? false
    response.beginResponse(
      to: location.requestText, isConditional: isConditional, isContinued: !rest.isEmpty,
      redirectedTo: redirects == 0 ? nil : location.hostAndPath)
    if connection.proxy != nil, let address = location.literalAddress {
      // The proxy opens the connection, so that no socket callback sees the address.
      if let reason = configuration.addressPolicy.refusal(of: [address], isLocal: location.isLocalName) {
        throw TransferError(.addressNotAllowed, "\(source): \(reason)", finalURL: finalURL)
      }
    }
    name = connection.proxy == nil ? location.nameAndPort : nil
    time.requestBegins()
    requests.requestBegins()
    easy.set(CURLOPT_LOW_SPEED_LIMIT, 0)
    if addressList != nil { easy.set(CURLOPT_RESOLVE, nil) }
    addressList = nil
    easy.set(CURLOPT_URL, location.requestText)
    easy.set(CURLOPT_PROXY, connection.proxy ?? "")
    easy.set(CURLOPT_FRESH_CONNECT, connection.isNew ? 1 : 0)
    let conditions = isConditional ? validators?.fields ?? [] : rest
    // Turns off "Expect: 100-continue", to which some servers never respond.
    let expect = request.content == nil ? [] : ["Expect:"]
    let fields = request.headers(with: hostSettings?.headers ?? [])
    headerList = easy.setHeaders(conditions + expect + fields.map(\.line))
    form = easy.setContent(of: request, queued)
    if queued.request.settings.netrc != nil {
      easy.setNetrc(fields.contains(where: \.isAuthorization) ? nil : hostSettings?.netrc?.path)
    }
    try setTimeLimits(waited: 0)
    if let refusal = easy.refusal { throw TransferError(.network, refusal) }
  }

  /// The header fields that request the rest of a partial body if its URL is the current one: a server that has another body by
  /// now sends the whole (RFC 9110, section 13.1.5). Empty when it is not continued.
  private var restConditions: [String] {
    guard request.isCacheable, mayContinue, let begun = response.begun, response.body.bytes > 0,
      begun.urlDigest == MessageDigest.hexDigest(of: location.requestText)
    else { return [] }
    return ["Range: bytes=\(response.body.bytes)-", "If-Range: \(begun.validator)"]
  }

  /// Sets the time limits of the current request.
  /// - Parameter waited: How long it waited for its name, in seconds.
  private func setTimeLimits(waited: Double) throws(TransferError) {
    let left = time.left
    guard left > .zero else {
      throw TransferError(.timeout, "\(source): redirects and names took all of the time allowed")
    }
    easy.set(CURLOPT_TIMEOUT_MS, left.wholeMilliseconds)
    easy.set(CURLOPT_CONNECTTIMEOUT_MS, (time.connectTimeout - .seconds(waited)).wholeMilliseconds)
  }

  /// Holds the current request back as the rates demand.
  /// - Parameters:
  ///   - isShared: Whether it can wait behind others of its host.
  ///   - isMeasured: As in `TransferTime`.
  func limit(by limiter: RateLimiter<UnsafeMutableRawPointer>, isShared: Bool, isMeasured: Bool, now: Double) {
    easy.set(CURLOPT_TIMEOUT_MS, 0)
    time.isMeasured = isMeasured
    time.hold(by: limiter, id: easy.raw, host: slotHost, isShared: isShared, now: now)
  }

  /// Records the end of a pause.
  func pauseEnds(now: Double) {
    time.pauseEnds(now: now)
    queued.request.progress?.setHeld(.none)
  }

  /// Ends the effect of rates.
  func endHold() {
    time.endHold()
    queued.request.progress?.setHeld(.none)
  }

  /// Checks the time limits that libcurl does not know.
  /// - Returns: The time of the next check; `nil` when a limit is exceeded.
  func checkTimes(now: Double) -> Double? { time.check(now: now, bytes: response.arrivedBytes) }

  /// Adopts the result of a lookup of the current request's name.
  /// - Parameter now: As `Clock.monotonicSeconds`; `nil` when the transfer did not wait for it.
  /// - Throws: Why the request cannot be sent.
  func adopt(_ lookup: NameLookup, now: Double?) throws(TransferError) {
    guard let (name, port) = name else { return }
    do throws(TransferError) {
      switch lookup {
      case .addresses(let addresses): addressList = easy.setAddresses(addresses, of: name, port: port)
      case .notFound:
        throw TransferError(
          .hostNotFound,
          "\(source): there is no host \(name)" + (SourceLocation.slashHint(for: source).map { "; " + $0 } ?? ""))
      case .exhausted(let number): throw .exhausted(number, "cannot look \(name) up", queued.request.location)
      case .failed(let reason): throw TransferError(.dns, "\(source): \(name) cannot be resolved now: \(reason)")
      }
      if let now {
        time.waited(now - waitingSince)
        try setTimeLimits(waited: now - waitingSince)
      }
    } catch {
      throw completed(error)
    }
  }

  /// The error of a transfer that has waited too long for its name.
  var resolvingTimeout: TransferError {
    var error = completed(time.unresolved(name?.name ?? "its host", of: source))
    error.isUnresolved = true
    return error
  }

  /// The URL or scope that validators of the present response belong to. The request's scope is for its own URL only: the server
  /// chooses the targets of redirects.
  private var validatorScope: String {
    redirects == 0 ? queued.request.validatorScope ?? location.requestText : location.requestText
  }

  // MARK: libcurl's callbacks

  /// Sets up the TLS context of a new connection. Returns whether that succeeded.
  func setUpTLS(_ context: OpaquePointer) -> Bool {
    // With a TLS session within another one, it is unknown which of them the context is for.
    let origin = connection.isProxyOverTLS ? nil : location.origin?.compactMap { $0 }.joined(separator: " ")
    return TLSContext(certificateFolder: certificateFolder, sessions: tlsSessions, origin: origin).attach(to: context)
  }

  /// Receives a line of a header. Returns whether to continue.
  func receive(header line: UnsafeRawBufferPointer) -> Bool {
    if !isAnswered {
      isAnswered = true
      queued.request.answered?()
    }
    return response.receive(header: line)
  }

  /// Whether the rates allow a piece of a body now. If not, the transfer pauses, and receives the piece again.
  func mayReceive(_ bytes: Int) -> Bool {
    let now = Clock.monotonicSeconds
    if time.mayReceive(bytes, now: now) { return true }
    queued.request.progress?.setHeld(time.hold?.isHeldByTotal(now: now) == true ? .total : .host)
    return false
  }

  /// Receives a piece of a body. Returns whether to continue.
  func receive(body piece: UnsafeRawBufferPointer) -> Bool { response.receive(body: piece) }

  /// Counts received bytes of a body, whether or not libcurl delivers them.
  func countArrived(_ bytes: Int) {
    if !time.hasFirstByte {
      time.bodyBegins(now: Clock.monotonicSeconds)
      easy.set(CURLOPT_LOW_SPEED_LIMIT, time.enforcedSpeed)
    }
    response.countArrived(bytes)
    queued.request.progress?.add(bytes)
    // The transfer still has the connection, so that it can be checked.
    if response.isBodyComplete, connection.hasUnreadBytes { response.countArrived(1) }
  }

  /// Records that a part of the request was sent: the wait for the answer begins.
  func hasSent() {
    requests.hasSent()
    time.hasSent(now: Clock.monotonicSeconds)
  }

  /// Opens a socket for an allowed address; returns -1 otherwise.
  func openSocket(for address: UnsafePointer<curl_sockaddr>) -> curl_socket_t { connection.openSocket(for: address) }

  /// Whether the request may be sent over the connection that libcurl chose.
  func maySendRequest(over endpoints: OpenConnections.Endpoints) -> Bool {
    let isSent = connection.maySendRequest(over: endpoints)
    requests.isConnected(isSent: isSent)
    return isSent
  }

  // MARK: The next step

  /// The step after a finished request.
  enum Step {
    case ended(Result<TransferOutcome, TransferError>)
    /// The handle is set up for another request for `location`, which may be new.
    case nextRequest
  }

  /// Ends a request that exceeds a limit of `checkTimes`. libcurl still has it.
  func expire() -> Step { step(after: CURLE_OPERATION_TIMEDOUT) }

  /// Decides the next step, once libcurl has finished a request.
  func step(after code: CURLcode) -> Step {
    time.requestEnds(after: Double(easy.offset(CURLINFO_TOTAL_TIME_T) ?? 0) / 1e6, now: Clock.monotonicSeconds)
    countRequests()
    if code == CURLE_OK {
      connection.endRequest()
      response.endResponse()
    }
    wasUnreachable =
      (code == CURLE_COULDNT_CONNECT || code == CURLE_OPERATION_TIMEDOUT) && easy.offset(CURLINFO_CONNECT_TIME_T) == 0
    // libcurl has no connection time for a reused connection, nor for one whose proxy has yet to answer; but it sent something.
    let isProxyAway = wasUnreachable && !requests.hasSentBytes
    proxyFailure = connection.proxy == nil ? nil : .init(code, isUnreachable: isProxyAway)
    lastAnswer = response.header.status == 0 ? nil : (easy.isHTTP2, easy.long(CURLINFO_NUM_CONNECTS) == 0)
    do throws(TransferError) {
      return try needsNextRequest(after: code) ? .nextRequest : .ended(.success(try outcome(code)))
    } catch {
      return .ended(.failure(completed(error)))
    }
  }

  /// Counts the current request, including repetitions.
  private func countRequests() { requests.requestEnds(newConnections: easy.long(CURLINFO_NUM_CONNECTS) ?? 0) }

  /// The error of the transfer when it is cancelled, whether or not libcurl has it.
  func cancelled() -> TransferError {
    countRequests()
    var error = TransferError.cancelled(queued.request.location)
    error.bytes = response.body.received + response.discardedBytes
    error.requests = requests.count
    return error
  }

  /// Whether the last request could not connect to any address of its host.
  private(set) var wasUnreachable = false

  /// The failure of the proxy in the last request; nil when it did not fail, or there was none.
  private var proxyFailure: TransferError.ProxyFailure?

  /// How the last request was answered; `nil` without an answer.
  private(set) var lastAnswer: (isHTTP2: Bool, isReused: Bool)?

  private func needsNextRequest(after code: CURLcode) throws(TransferError) -> Bool {
    if connection.hasUnexpectedBytes {
      try prepareNextRequest(overNewConnection: true)
    } else if mayContinue, response.isUnfit || code == CURLE_OK && response.isWrongContinuation {
      mayContinue = false
      try response.restart()
      try prepareNextRequest(overNewConnection: false)
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
      to: location, isNew: isNew || request.needsNewConnection, easy: easy, configuration: configuration,
      openConnections: openConnections)
    try prepareRequest()
  }

  // MARK: The result

  /// The transfer's location for messages.
  private var source: String { queued.request.location.redacted }

  private var finalURL: String { redacted(location.requestText, valid: true) }

  private func outcome(_ code: CURLcode) throws(TransferError) -> TransferOutcome {
    if let failure = response.failure ?? form?.failure(isTimeout: code == CURLE_OPERATION_TIMEDOUT) {
      throw failure
    }
    if let failure = time.failure(of: source) { throw failure }
    let header = response.header
    guard code == CURLE_OK, header.status == 200 || response.isNotModified || response.isContinuation else {
      throw TransferError(
        code, detail: easy.errorText, systemError: easy.systemError, exhaustion: connection.exhaustion,
        refusal: connection.refusal, proxyStatus: connection.proxy == nil ? nil : easy.connectStatus,
        location: queued.request.location)
    }
    try response.checkLength()
    let begun = response.isContinuation ? response.begun : nil
    return TransferOutcome(
      httpStatus: header.status, validators: header.validators(of: validatorScope, continuing: begun),
      mayBeStored: !header.forbidsStoring && begun?.forbidsStoring != true, finalURL: finalURL,
      bytes: response.isNotModified ? 0 : response.body.bytes, received: response.body.received,
      sha256: try response.isNotModified ? "" : response.body.finish(),
      // A longer one is none: comparing it may take long.
      contentType: easy.string(CURLINFO_CONTENT_TYPE).flatMap { $0.utf8.count > 1024 ? nil : $0 },
      requests: requests.count, seconds: time.seconds, answer: answer)
  }

  /// The error with the details of the transfer.
  private func completed(_ error: TransferError) -> TransferError {
    var error = error
    let header = response.header
    error.finalURL = finalURL
    if header.status != 0 { error.httpStatus = header.status }
    if error.code == .httpStatus, error.isRetryable, let value = header.retryAfter {
      error.retryAfter = retryAfterSeconds(value, now: Clock.wallSeconds)
    }
    error.bytes = response.body.received + response.discardedBytes
    error.requests = requests.count
    error.answer = answer
    error.proxyFailure = proxyFailure
    keepPartial(after: error)
    return error
  }

  /// Keeps the partial body for the next try: of a body that broke off, or the earlier part when nothing arrived.
  private func keepPartial(after error: TransferError) {
    guard let kept = queued.request.partial, request.isCacheable, error.isRetryable,
      response.failure.map({ [.httpStatus, .network].contains($0.code) }) ?? true, let partial = response.partial
    else { return }
    kept.keep(response.body.partial(of: partial))
  }

  /// The host's answer to the last request; nil without one.
  private var answer: HostAnswer? {
    guard response.header.status != 0, let began = easy.offset(CURLINFO_PRETRANSFER_TIME_T),
      let came = easy.offset(CURLINFO_STARTTRANSFER_TIME_T)
    else { return nil }
    return HostAnswer(firstByte: Double(max(0, came - began)) / 1e6, isHTTP2: easy.isHTTP2)
  }
}

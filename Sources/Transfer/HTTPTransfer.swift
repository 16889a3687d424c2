import CCurl
import Glibc

/// One http or https transfer under way: a request, and one more for each redirect. Lives on the engine's thread; libcurl
/// calls it back by its address.
final class HTTPTransfer {
  let queued: QueuedTransfer
  let easy: EasyHandle

  /// What is asked for now: what was wanted, or where the last redirect leads.
  private(set) var location: SourceLocation

  /// How it is asked for now; redirects change it.
  private var request: SourceRequest

  /// The host at whose gate the transfer has a place.
  var seat: String

  /// Why this transfer has to end; says more than libcurl's code. Set by `init` when it must not even begin.
  private(set) var failure: TransferError?

  private let configuration: TransferConfiguration
  private let open: OpenConnections
  private let body: BodyWriter
  private var header = ResponseHeader()
  private var redirects = 0

  /// How long the requests so far took, without the time between them; in seconds.
  private var seconds = 0.0
  private var headerBytes = 0

  /// How many bytes of redirects and error pages were thrown away, of all requests.
  private var discarded = 0
  private var requests = RequestCount()

  // Of the request under way:

  /// The proxy that it goes through.
  private var proxy: String?
  /// Whether it asks for the body only if the source has changed.
  private var isConditional = false
  private var fields = HeaderList([])
  private var form: MIMEForm?
  /// Why an address of the host was refused.
  private var refusal: String?
  /// Whether another address of the host was tried.
  private var hasConnected = false
  /// Bytes of the body as they came in, before libcurl cuts off what was not announced.
  private var arrived = 0
  /// Whether the rest of a redirect's body was not waited for.
  private var isAbandoned = false
  /// The local port of the connection.
  private var port = 0
  /// Whether the connection that libcurl chose holds bytes that nobody asked for.
  private var isTainted = false
  /// Whether a new connection is demanded, since the last choice was tainted.
  private var isFresh = false

  /// The longest body of an error or redirect that is read to its end, so that its connection can be used again.
  private static let maxDiscarded = 16 << 10

  init(_ queued: QueuedTransfer, easy: EasyHandle, configuration: TransferConfiguration, open: OpenConnections) {
    self.queued = queued
    self.open = open
    self.easy = easy
    self.configuration = configuration
    location = queued.request.location
    request = queued.request.request
    seat = location.host ?? ""
    body = BodyWriter(queued.request, maxBytes: configuration.maxBytes)
    easy.configure(configuration)
    easy.setCallbacks(of: self)
    do throws(TransferError) {
      try aim()
    } catch {
      failure = error
    }
  }

  /// The source as it is called in messages.
  private var source: String { queued.request.location.redacted }

  /// Prepares the request for `location`.
  /// - Parameter fresh: Whether no connection is to be used again.
  private func aim(fresh: Bool = false) throws(TransferError) {
    proxy = configuration.proxies.proxy(for: location)
    (header, refusal, hasConnected, arrived, isAbandoned) = (ResponseHeader(), nil, false, 0, false)
    (isTainted, isFresh) = (false, fresh)
    if proxy != nil, let address = location.literalAddress {
      // The proxy connects, so that no socket will tell the address.
      if case .refused(let reason) = configuration.addressPolicy.verdict(for: address) {
        throw TransferError(.addressNotAllowed, "\(source): \(reason)", finalURL: finalURL)
      }
    }
    let left = configuration.timeout - .seconds(seconds)
    guard left > .zero else { throw TransferError(.timeout, "\(source): redirects took all of the time allowed") }
    easy.set(CURLOPT_URL, location.requestText)
    easy.set(CURLOPT_PROXY, proxy ?? "")
    easy.set(CURLOPT_FRESH_CONNECT, fresh ? 1 : 0)
    setHeaders()
    form = easy.setContent(of: request)
    easy.set(CURLOPT_TIMEOUT_MS, left.wholeMilliseconds)
    if let refusal = easy.refusal { throw TransferError(.network, refusal) }
  }

  /// Validators are for the URL that gave them, not for what redirects to it or where it leads today.
  private func setHeaders() {
    let validators = request.isCacheable ? queued.request.validators : nil
    isConditional = validators.map { $0.answered == MessageDigest.hexDigest(of: location.requestText) } ?? false
    // A body is sent without asking whether it may be: some servers never answer that.
    let own = (isConditional ? validators?.fields ?? [] : []) + (request.content == nil ? [] : ["Expect:"])
    fields = HeaderList(own + request.headers.map(\.line))
    easy.set(CURLOPT_HTTPHEADER, UnsafeMutableRawPointer(fields.raw))
  }

  /// Whether the source is what it was.
  private var isNotModified: Bool { isConditional && header.status == 304 }

  private var finalURL: String { redacted(location.requestText, valid: true) }

  // MARK: What libcurl tells

  /// Takes a line of a header. Returns whether to go on.
  func take(header line: UnsafeRawBufferPointer) -> Bool {
    do throws(TransferError) {
      headerBytes += line.count
      guard headerBytes <= TransferConfiguration.maxHeaderBytes else {
        let limit = TransferConfiguration.maxHeaderBytes
        throw TransferError(.tooLarge, "headers may have \(limit) bytes; those of \(source) have more")
      }
      switch header.take(line) {
      case .status: break
      case .field: if header.status == 200, let size = header.announcedBytes { try body.checkAnnounced(size) }
      case .end: return endOfHeader()
      }
      return true
    } catch {
      failure = error
      return false
    }
  }

  private func endOfHeader() -> Bool {
    if header.status < 200 || header.status == 200 || isNotModified { return true }
    if header.redirectTarget == nil {
      failure = TransferError(.httpStatus, "\(source) answered with status \(header.status)")
    }
    isAbandoned = header.announcedBytes ?? 0 > Self.maxDiscarded
    return !isAbandoned
  }

  /// Takes a piece of a body. Returns whether to go on.
  func take(body piece: UnsafeRawBufferPointer) -> Bool {
    guard failure == nil, header.status == 200 else {
      discarded += piece.count
      isAbandoned = arrived > Self.maxDiscarded
      return !isAbandoned
    }
    do throws(TransferError) {
      try body.append(piece)
      return true
    } catch {
      failure = error
      return false
    }
  }

  /// Counts what came in of a body.
  func count(arrived bytes: Int) {
    arrived += bytes
    // The connection is still ours.
    if arrived == header.bodyBytes, !isMultiplexed, open.hasUnreadBytes(port: port, layers) { arrived += 1 }
  }

  /// Whether the connection carries other transfers, too.
  private var isMultiplexed: Bool { (easy.count(CURLINFO_HTTP_VERSION) ?? 0) >= CURL_HTTP_VERSION_2_0 }

  /// What the connection in use is made of.
  private var layers: ConnectionLayers {
    let isProxyOverTLS = proxy.flatMap(schemeText)?.lowercased() == "https"
    guard location.scheme == .https || isProxyOverTLS else { return .none }
    guard let session = easy.tlsSession else { return .unknown }
    return location.scheme == .https && isProxyOverTLS ? .tlsOverTLS(session) : .tls(session)
  }

  /// Opens a socket for an address, if the policy allows it or it is the proxy's: no packet is sent to any other.
  func socket(for target: UnsafePointer<curl_sockaddr>) -> curl_socket_t {
    let length = Int(target.pointee.addrlen)
    // The address is longer than the field that it is declared as, so it is read through the whole's pointer.
    let bytes = UnsafeRawPointer(target) + (MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0)
    guard let address = IPAddress(bytes, length: length) else {
      refusal = "an address of family \(target.pointee.family) is neither IPv4 nor IPv6"
      return -1
    }
    if proxy == nil, case .refused(let reason) = configuration.addressPolicy.verdict(for: address) {
      refusal = reason
      return -1
    }
    hasConnected = true
    let type = target.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    let socket = Glibc.socket(target.pointee.family, type, target.pointee.protocol)
    open.add(socket)
    return socket
  }

  /// Whether the request may be sent over the connection of a local port. If not, another is opened.
  func mayAsk(overPort port: Int) -> Bool {
    self.port = port
    isTainted = !open.begin(port: port, layers) && !isFresh
    return !isTainted
  }

  // MARK: What comes next

  /// What a finished request leads to.
  enum Step {
    case ended(Result<TransferOutcome, TransferError>)
    /// The handle is ready to ask for `location`, which may be new.
    case asksAgain
  }

  /// Decides how to go on, once libcurl has finished with a request.
  func step(after code: CURLcode) -> Step {
    seconds += Double(easy.number(CURLINFO_TOTAL_TIME_T) ?? 0) / 1e6
    if easy.count(CURLINFO_REQUEST_SIZE) ?? 0 > 0 {
      requests.sent += 1
      requests.reused += easy.count(CURLINFO_NUM_CONNECTS) == 0 ? 1 : 0
    }
    if code == CURLE_OK {
      open.end(port: port, isMultiplexed: isMultiplexed)
    }
    do throws(TransferError) {
      if try asksAgain(code) { return .asksAgain }
    } catch {
      failure = error
    }
    do throws(TransferError) {
      return .ended(.success(try outcome(code)))
    } catch {
      return .ended(.failure(complete(error)))
    }
  }

  private func asksAgain(_ code: CURLcode) throws(TransferError) -> Bool {
    if isTainted {
      try aim(fresh: true)
    } else if failure == nil, let target = header.redirectTarget, code == CURLE_OK || isAbandoned {
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
    request = request.redirected(status: header.status, leavesOrigin: location.origin != origin)
    try aim()
  }

  private func outcome(_ code: CURLcode) throws(TransferError) -> TransferOutcome {
    if let failure { throw failure }
    guard code == CURLE_OK, header.status == 200 || isNotModified else {
      throw TransferError(
        code, detail: easy.errorText, refusal: hasConnected ? nil : refusal, location: queued.request.location)
    }
    if let size = header.bodyBytes, arrived > size, !isNotModified {
      throw TransferError(.truncated, "\(source) announced \(size) bytes and sent more; they are not to be trusted")
    }
    return TransferOutcome(
      httpStatus: header.status, validators: header.validators(of: location.requestText),
      mayBeStored: !header.forbidsStoring, finalURL: finalURL, bytes: body.bytes,
      sha256: try isNotModified ? "" : body.finish(), contentType: easy.string(CURLINFO_CONTENT_TYPE),
      requests: requests, seconds: seconds)
  }

  /// Adds what is known of the transfer.
  private func complete(_ error: TransferError) -> TransferError {
    var error = error
    error.finalURL = finalURL
    error.httpStatus = header.status == 0 ? nil : header.status
    if error.code == .httpStatus, error.isRetryable, let value = header.retryAfter {
      error.retryAfter = retryAfterSeconds(value, now: unixTime())
    }
    error.bytes = body.bytes + discarded
    error.requests = requests
    return error
  }
}

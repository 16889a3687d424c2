import CCurl
import Glibc

/// One http or https transfer under way. Lives on the engine's thread; libcurl calls it back by its address.
final class HTTPTransfer {
  let queued: QueuedTransfer
  let easy: EasyHandle
  private let configuration: TransferConfiguration
  private let body: BodyWriter
  private var header = ResponseHeader()
  /// Why this transfer has to end, found by one of the functions below; says more than libcurl's code.
  private var failure: TransferError?
  /// Why an address of the current host was refused.
  private var refusal: String?
  /// Whether another address of the current host was tried.
  private var hasConnected = false
  /// How many bytes of an error's body have been discarded.
  private var discarded = 0

  /// The longest body of an error that is read to its end, so that its connection can be used again.
  private static let maxDiscarded = 16 << 10

  init(_ queued: QueuedTransfer, easy: EasyHandle, configuration: TransferConfiguration) {
    self.queued = queued
    self.easy = easy
    self.configuration = configuration
    body = BodyWriter(queued.request, maxBytes: configuration.maxBytes)
    configure()
  }

  private var location: SourceLocation { queued.request.location }

  private func configure() {
    let this = Unmanaged.passUnretained(self).toOpaque()
    easy.set(CURLOPT_URL, location.requestText)
    easy.set(CURLOPT_USERAGENT, configuration.userAgent)
    easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
    easy.set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
    easy.set(CURLOPT_FOLLOWLOCATION, 1)
    easy.set(CURLOPT_MAXREDIRS, configuration.maxRedirects)
    easy.set(CURLOPT_PROXY, "")  // no proxy, whatever the environment says
    easy.set(CURLOPT_NOSIGNAL, 1)
    easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    easy.set(CURLOPT_HTTP09_ALLOWED, 0)
    easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
    easy.set(CURLOPT_SSL_VERIFYPEER, 1)
    easy.set(CURLOPT_SSL_VERIFYHOST, 2)
    easy.set(CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeout.wholeMilliseconds)
    easy.set(CURLOPT_TIMEOUT_MS, configuration.timeout.wholeMilliseconds)
    easy.set(CURLOPT_LOW_SPEED_LIMIT, configuration.lowSpeed)
    easy.set(CURLOPT_LOW_SPEED_TIME, (configuration.lowSpeedPeriod.wholeMilliseconds + 999) / 1000)
    easy.set(CURLOPT_QUICK_EXIT, 1)  // a cancelled transfer does not wait for its resolver
    easy.set(CURLOPT_BUFFERSIZE, 128 << 10)
    easy.set(CURLOPT_HEADERFUNCTION, receiveHeader)
    easy.set(CURLOPT_HEADERDATA, this)
    easy.set(CURLOPT_WRITEFUNCTION, receiveBody)
    easy.set(CURLOPT_WRITEDATA, this)
    easy.setOpenSocket(openSocket)
    easy.set(CURLOPT_OPENSOCKETDATA, this)
  }

  /// Takes a line of a header. Returns whether to go on.
  fileprivate func take(header line: UnsafeRawBufferPointer) -> Bool {
    do throws(TransferError) {
      let kind = header.take(line)
      guard header.bytes <= TransferConfiguration.maxHeaderBytes else {
        let limit = TransferConfiguration.maxHeaderBytes
        throw TransferError(.tooLarge, "a header may have \(limit) bytes; that of \(location.redacted) has more")
      }
      switch kind {
      case .status: (refusal, hasConnected) = (nil, false)
      case .field: if header.status == 200, let size = header.announcedBytes { try body.checkAnnounced(size) }
      case .end: return try endOfHeader()
      }
      return true
    } catch {
      failure = error
      return false
    }
  }

  private func endOfHeader() throws(TransferError) -> Bool {
    if header.isRedirect {
      if let target = header.location, let scheme = schemeText(of: target)?.lowercased(),
        SourceLocation.Scheme(rawValue: scheme) != .http, SourceLocation.Scheme(rawValue: scheme) != .https
      {
        let shown = redacted(target, valid: false)
        throw TransferError(
          .schemeNotAllowed, "\(location.redacted) redirects to \(shown); allowed are http and https")
      }
    } else if header.status >= 200, header.status != 200 {
      failure = TransferError(.httpStatus, "\(location.redacted) answered with status \(header.status)")
      return header.announcedBytes ?? 0 <= Self.maxDiscarded
    }
    return true
  }

  /// Takes a piece of a body. Returns whether to go on.
  fileprivate func take(body piece: UnsafeRawBufferPointer) -> Bool {
    guard failure == nil, header.status == 200 else {
      discarded += piece.count
      return discarded <= Self.maxDiscarded
    }
    do throws(TransferError) {
      try body.append(piece)
      return true
    } catch {
      failure = error
      return false
    }
  }

  /// Opens a socket for an address, if the policy allows it: no packet is sent to any other.
  fileprivate func socket(for target: UnsafePointer<curl_sockaddr>) -> curl_socket_t {
    let length = Int(target.pointee.addrlen)
    // The address is longer than the field that it is declared as, so it is read through the whole's pointer.
    let bytes = UnsafeRawPointer(target) + (MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0)
    guard let address = IPAddress(bytes, length: length) else {
      refusal = "an address of family \(target.pointee.family) is neither IPv4 nor IPv6"
      return -1
    }
    if case .refused(let reason) = configuration.addressPolicy.verdict(for: address) {
      refusal = reason
      return -1
    }
    hasConnected = true
    let type = target.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    return Glibc.socket(target.pointee.family, type, target.pointee.protocol)
  }

  /// The result, once libcurl has finished with the transfer.
  func result(_ code: CURLcode) -> Result<TransferOutcome, TransferError> {
    let isURL = code != CURLE_URL_MALFORMAT
    let final = easy.string(CURLINFO_EFFECTIVE_URL).map { redacted($0, valid: isURL) } ?? location.redacted
    if failure == nil, code == CURLE_OK, header.status == 200 {
      do throws(TransferError) {
        return .success(
          TransferOutcome(
            httpStatus: header.status, finalURL: final, bytes: body.bytes, sha256: try body.finish(),
            contentType: easy.string(CURLINFO_CONTENT_TYPE), connectionReused: connectionReused,
            seconds: Double(easy.number(CURLINFO_TOTAL_TIME_T) ?? 0) / 1e6))
      } catch {
        failure = error
      }
    }
    var error =
      failure
      ?? TransferError(
        code, detail: easy.errorText, refusal: hasConnected ? nil : refusal, location: location)
    error.finalURL = final
    error.httpStatus = header.status == 0 ? nil : header.status
    if error.code == .httpStatus, error.isRetryable, let value = header.retryAfter {
      error.retryAfter = retryAfterSeconds(value, now: unixTime())
    }
    error.bytes = body.bytes + discarded
    error.connectionReused = connectionReused
    return .failure(error)
  }

  private var connectionReused: Bool {
    (easy.count(CURLINFO_REQUEST_SIZE) ?? 0) > 0 && easy.count(CURLINFO_NUM_CONNECTS) == 0
  }
}

extension Duration {
  /// The duration in milliseconds, at least 1: libcurl takes 0 for "no limit".
  fileprivate var wholeMilliseconds: Int {
    max(1, Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000))
  }
}

private let receiveHeader: curl_write_callback = { bytes, size, count, context in
  guard let context else { return 0 }
  let transfer = Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
  return transfer.take(header: UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
}

private let receiveBody: curl_write_callback = { bytes, size, count, context in
  guard let context else { return 0 }
  let transfer = Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
  return transfer.take(body: UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
}

private let openSocket: curl_opensocket_callback = { context, _, address in
  guard let context, let address else { return -1 }
  return Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue().socket(for: address)
}

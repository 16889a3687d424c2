/// Receives the responses of one transfer: reads their headers, writes the body of the last one, and discards the bodies
/// of redirects and error pages.
struct ResponseReceiver {
  let body: BodyWriter

  /// Why the response is unusable; more specific than libcurl's code. Default: `nil`.
  private(set) var failure: TransferError?

  /// The header of the current response so far.
  private(set) var header = ResponseHeader()

  /// The part of the body from an earlier transfer, while it is there.
  private(set) var begun: PartialBody.Source?

  /// The source of the partial body so far; `nil` when it cannot be continued.
  var partial: PartialBody.Source? {
    guard body.bytes > 0, !hasExcess else { return nil }
    let source = isHeaderComplete && header.status == 200 ? PartialBody.Source(header, from: url) : begun
    return source.flatMap { $0.total ?? .max > body.bytes ? $0 : nil }
  }

  /// Whether the header of the current response has ended: later lines are trailers.
  private var isHeaderComplete = false

  /// The discarded bytes of redirects and error pages, over all responses.
  private(set) var discardedBytes = 0

  /// Whether the transfer was aborted because the rest of a body to discard is too long to be read.
  private(set) var isBodySkipped = false

  private let source: String
  /// The current request's location for messages: after a redirect with its host and path.
  private var asked: String
  /// The URL of the current request.
  private var url = ""
  private var isConditional = false

  /// The body that the request continues; `nil` for the whole body.
  private var continued: PartialBody.Source?

  /// Whether the request asked for the rest of a body, and the answer is neither that nor the whole body.
  private(set) var isUnfit = false

  /// Over all responses.
  private var headerBytes = 0

  /// Received bytes of the current body, before libcurl cuts off bytes beyond the announced length.
  private(set) var arrivedBytes = 0

  /// The longest body of an error page or redirect that is read to its end, so that its connection can be reused.
  private static let maxDiscardedBytes = 16 << 10

  /// - Parameters:
  ///   - maxBytes: The largest body allowed.
  ///   - begun: The part of the body from an earlier transfer.
  init(_ request: TransferRequest, maxBytes: Int, begun: PartialBody.Content? = nil) {
    body = BodyWriter(request, maxBytes: maxBytes, begun: begun)
    self.begun = begun?.source
    source = request.location.redacted
    asked = source
  }

  /// Starts the response to a new request.
  /// - Parameters:
  ///   - isConditional: Whether the request asks for the body only if the source has changed.
  ///   - isContinued: Whether the request asks for the rest of a partial body.
  ///   - url: Its URL as sent.
  ///   - target: Host and path of the request after a redirect; nil for the first request.
  mutating func beginResponse(
    to url: String, isConditional: Bool, isContinued: Bool, redirectedTo target: String? = nil
  ) {
    self.url = url
    self.isConditional = isConditional
    (continued, isUnfit, isHeaderComplete) = (isContinued ? begun : nil, false, false)
    asked = target.map { "\(source), redirected to \($0)," } ?? source
    (header, arrivedBytes, isBodySkipped) = (ResponseHeader(), 0, false)
  }

  /// Whether the server confirms that the source has not changed.
  var isNotModified: Bool { isConditional && header.status == 304 }

  /// Whether the response is the rest of a body that an earlier transfer began.
  var isContinuation: Bool { continued != nil && isHeaderComplete && header.status == 206 && !isUnfit }

  /// Starts the body again.
  /// - Throws: `io`.
  mutating func restart() throws(TransferError) {
    begun = nil
    try body.restart()
  }

  /// The target of the response's redirect; `nil` when it has none, or failed.
  var redirectTarget: String? { failure == nil ? header.redirectTarget : nil }

  /// Ends the response to a request that libcurl has finished without an error: it accepts a header that breaks off.
  mutating func endResponse() {
    guard failure == nil, !isHeaderComplete else { return }
    failure = TransferError(.network, "\(asked): the connection was closed within the header of the answer")
  }

  /// Receives a line of a header. Returns whether to continue.
  mutating func receive(header line: UnsafeRawBufferPointer) -> Bool {
    do throws(TransferError) {
      headerBytes += line.count
      guard headerBytes <= TransferConfiguration.maxHeaderBytes else {
        let limit = TransferConfiguration.maxHeaderBytes
        throw TransferError(.tooLarge, "headers may have \(limit) bytes; those of \(source) have more")
      }
      // Lines after a body no longer describe it.
      if isHeaderComplete, !ResponseHeader.isStatus(line) { return true }
      switch header.parse(line) {
      case .status: isHeaderComplete = false
      case .field: if header.status == 200, let size = header.announcedBytes { try body.checkAnnounced(size) }
      case .end: return try endHeader()
      }
      return true
    } catch {
      failure = error
      return false
    }
  }

  private mutating func endHeader() throws(TransferError) -> Bool {
    if header.status < 200 { return true }
    isHeaderComplete = true
    if isNotModified { return true }
    if header.status == 200 {
      if body.bytes > 0 { try restart() }
      return true
    }
    if let continued, header.status == 206 || header.status == 416 {
      isUnfit = try !isRest(of: continued)
      if !isUnfit { return true }
    } else if header.redirectTarget == nil {
      failure = TransferError(.httpStatus, "\(asked) answered with status \(header.status)")
    }
    isBodySkipped = header.announcedBytes ?? 0 > Self.maxDiscardedBytes
    return !isBodySkipped
  }

  /// Whether the response is exactly the rest of a body: up to its end, if that was announced, and with the same validators, if
  /// it has some.
  /// - Throws: `too-large`.
  private func isRest(of source: PartialBody.Source) throws(TransferError) -> Bool {
    guard header.status == 206, let range = header.contentRange, let total = range.total, range.first == body.bytes,
      range.last == total - 1, source.total ?? total == total,
      header.bodyBytes ?? total - range.first == total - range.first,
      header.etag ?? source.etag == source.etag, header.lastModified ?? source.lastModified == source.lastModified
    else { return false }
    try body.checkAnnounced(total)
    return true
  }

  /// Whether the continued body is wrong, although its transfer has ended well.
  var isWrongContinuation: Bool {
    isContinuation && (header.contentRange?.total != body.bytes || !body.matchesChecksum)
  }

  /// Receives a piece of a body. Returns whether to continue.
  mutating func receive(body piece: UnsafeRawBufferPointer) -> Bool {
    guard failure == nil, header.status == 200 || isContinuation else {
      discardedBytes += piece.count
      isBodySkipped = arrivedBytes > Self.maxDiscardedBytes
      return !isBodySkipped
    }
    do throws(TransferError) {
      try body.append(piece)
      return true
    } catch {
      failure = error
      return false
    }
  }

  /// Counts received bytes of the body, whether or not libcurl delivers them.
  mutating func countArrived(_ bytes: Int) { arrivedBytes += bytes }

  var isBodyComplete: Bool { arrivedBytes == header.bodyBytes }

  /// Checks that no more than the announced body has arrived.
  /// - Throws: `truncated`: the end of the body is unknown.
  func checkLength() throws(TransferError) {
    guard hasExcess, let size = header.bodyBytes else { return }
    throw TransferError(.truncated, "\(source) announced \(size) bytes and sent more; they are not to be trusted")
  }

  private var hasExcess: Bool { header.bodyBytes.map { arrivedBytes > $0 && !isNotModified } ?? false }
}

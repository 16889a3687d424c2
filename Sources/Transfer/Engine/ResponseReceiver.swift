/// Receives the responses of one transfer: reads their headers, writes the body of the last one, and discards the bodies
/// of redirects and error pages.
struct ResponseReceiver {
  let body: BodyWriter

  /// Why the response is of no use; more specific than libcurl's code. Default: `nil`.
  private(set) var failure: TransferError?

  /// The header of the current response, as far as it has arrived.
  private(set) var header = ResponseHeader()

  /// What an earlier transfer has left of the body, as long as that is there.
  private(set) var begun: PartialBody.Source?

  /// What the body so far is the beginning of; `nil` when it cannot be continued.
  var partial: PartialBody.Source? {
    guard body.bytes > 0, !hasExcess else { return nil }
    let source = isHeaderComplete && header.status == 200 ? PartialBody.Source(header, from: url) : begun
    return source.flatMap { $0.total ?? .max > body.bytes ? $0 : nil }
  }

  /// Whether the header of the current response has ended: what comes after it are trailers.
  private var isHeaderComplete = false

  /// How many bytes of redirects and error pages were discarded, over all responses.
  private(set) var discardedBytes = 0

  /// Whether the transfer was aborted because the rest of a body to discard is too long to be read.
  private(set) var isBodySkipped = false

  private let source: String
  /// What the current request asks for, as messages name it: after a redirect with its host and path.
  private var asked: String
  /// What the current request asks for.
  private var url = ""
  private var isConditional = false

  /// What the request asks to continue; `nil` for the whole body.
  private var continued: PartialBody.Source?

  /// Whether the request asked for the rest of a body, and the answer is neither that nor the whole.
  private(set) var isUnfit = false

  /// Over all responses.
  private var headerBytes = 0

  /// Bytes of the current body as they arrived, before libcurl cuts off what was not announced.
  private(set) var arrivedBytes = 0

  /// The longest body of an error page or redirect that is read to its end, so that its connection can be reused.
  private static let maxDiscardedBytes = 16 << 10

  /// - Parameters:
  ///   - maxBytes: The largest body allowed.
  ///   - begun: What an earlier transfer has left of the body.
  init(_ request: TransferRequest, maxBytes: Int, begun: PartialBody.Content? = nil) {
    body = BodyWriter(request, maxBytes: maxBytes, begun: begun)
    self.begun = begun?.source
    source = request.location.redacted
    asked = source
  }

  /// Begins the response to a new request.
  /// - Parameters:
  ///   - isConditional: Whether the request asks for the body only if the source has changed.
  ///   - isContinued: Whether the request asks for the rest of what has begun.
  ///   - url: What it asks for, as it is sent.
  ///   - target: Host and path that the request is for after a redirect; nil for the first request.
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

  /// Whether the response is the rest of a body that an earlier transfer has begun.
  var isContinuation: Bool { continued != nil && header.status == 206 && !isUnfit }

  /// Begins the body again, whatever there is.
  /// - Throws: `io`.
  mutating func restart() throws(TransferError) {
    begun = nil
    try body.restart()
  }

  /// Where the response redirects to; `nil` when it does not, or failed.
  var redirectTarget: String? { failure == nil ? header.redirectTarget : nil }

  /// Takes a line of a header. Returns whether to continue.
  mutating func receive(header line: UnsafeRawBufferPointer) -> Bool {
    do throws(TransferError) {
      headerBytes += line.count
      guard headerBytes <= TransferConfiguration.maxHeaderBytes else {
        let limit = TransferConfiguration.maxHeaderBytes
        throw TransferError(.tooLarge, "headers may have \(limit) bytes; those of \(source) have more")
      }
      // What comes after a body says nothing about it any more.
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
    if header.status < 200 || isNotModified || isHeaderComplete { return true }
    isHeaderComplete = true
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

  /// Whether the response is exactly the rest of a body: up to its end, as long as it was announced, with the same validators
  /// where it has some.
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

  /// Whether the body that was continued is not the one that it should be, although its transfer has ended well.
  var isWrongContinuation: Bool {
    isContinuation && (header.contentRange?.total != body.bytes || !body.matchesChecksum)
  }

  /// Takes a piece of a body. Returns whether to continue.
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

  /// Counts bytes of the body that arrived, whether or not libcurl delivers them.
  mutating func countArrived(_ bytes: Int) { arrivedBytes += bytes }

  var isBodyComplete: Bool { arrivedBytes == header.bodyBytes }

  /// Checks that no more than the announced body has arrived.
  /// - Throws: `truncated`: where the body ends is unknown.
  func checkLength() throws(TransferError) {
    guard hasExcess, let size = header.bodyBytes else { return }
    throw TransferError(.truncated, "\(source) announced \(size) bytes and sent more; they are not to be trusted")
  }

  private var hasExcess: Bool { header.bodyBytes.map { arrivedBytes > $0 && !isNotModified } ?? false }
}

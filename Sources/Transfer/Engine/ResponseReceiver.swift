/// Receives the responses of one transfer: reads their headers, writes the body of the last one, and discards the bodies
/// of redirects and error pages.
struct ResponseReceiver {
  let body: BodyWriter

  /// Why the response is of no use; more specific than libcurl's code. Default: `nil`.
  private(set) var failure: TransferError?

  /// The header of the current response, as far as it has arrived.
  private(set) var header = ResponseHeader()

  /// How many bytes of redirects and error pages were discarded, over all responses.
  private(set) var discardedBytes = 0

  /// Whether the transfer was aborted because the rest of a body to discard is too long to be read.
  private(set) var isBodySkipped = false

  private let source: String
  /// What the current request asks for, as messages name it: after a redirect with its host and path.
  private var asked: String
  private var isConditional = false

  /// Over all responses.
  private var headerBytes = 0

  /// Bytes of the current body as they arrived, before libcurl cuts off what was not announced.
  private var arrivedBytes = 0

  /// The longest body of an error page or redirect that is read to its end, so that its connection can be reused.
  private static let maxDiscardedBytes = 16 << 10

  /// - Parameter maxBytes: The largest body allowed.
  init(_ request: TransferRequest, maxBytes: Int) {
    body = BodyWriter(request, maxBytes: maxBytes)
    source = request.location.redacted
    asked = source
  }

  /// Begins the response to a new request.
  /// - Parameters:
  ///   - isConditional: Whether the request asks for the body only if the source has changed.
  ///   - target: Host and path that the request is for after a redirect; nil for the first request.
  mutating func beginResponse(isConditional: Bool, redirectedTo target: String? = nil) {
    self.isConditional = isConditional
    asked = target.map { "\(source), redirected to \($0)," } ?? source
    (header, arrivedBytes, isBodySkipped) = (ResponseHeader(), 0, false)
  }

  /// Whether the server confirms that the source has not changed.
  var isNotModified: Bool { isConditional && header.status == 304 }

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
      switch header.parse(line) {
      case .status: break
      case .field: if header.status == 200, let size = header.announcedBytes { try body.checkAnnounced(size) }
      case .end: return endHeader()
      }
      return true
    } catch {
      failure = error
      return false
    }
  }

  private mutating func endHeader() -> Bool {
    if header.status < 200 || header.status == 200 || isNotModified { return true }
    if header.redirectTarget == nil {
      failure = TransferError(.httpStatus, "\(asked) answered with status \(header.status)")
    }
    isBodySkipped = header.announcedBytes ?? 0 > Self.maxDiscardedBytes
    return !isBodySkipped
  }

  /// Takes a piece of a body. Returns whether to continue.
  mutating func receive(body piece: UnsafeRawBufferPointer) -> Bool {
    guard failure == nil, header.status == 200 else {
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

  /// Whether exactly the announced body has arrived.
  var isBodyComplete: Bool { arrivedBytes == header.bodyBytes }

  /// Checks that no more than the announced body has arrived.
  /// - Throws: `truncated`: where the body ends is unknown.
  func checkLength() throws(TransferError) {
    if let size = header.bodyBytes, arrivedBytes > size, !isNotModified {
      throw TransferError(.truncated, "\(source) announced \(size) bytes and sent more; they are not to be trusted")
    }
  }
}

import CCurl
import Glibc
import Synchronization

/// Owns a form of libcurl (`curl_mime`), which contains copies of names and texts, and reads files while it is sent.
final class MIMEForm {
  let raw: OpaquePointer
  private var readers: [FormFileReader] = []

  /// Whether libcurl waits for bytes of a file that are there.
  var canContinue: Bool { readers.contains(where: \.canContinue) }

  /// Why a file could not be sent; `nil` without such a failure.
  /// - Parameter isTimeout: Whether the time for the request is over.
  func failure(isTimeout: Bool) -> TransferError? {
    readers.lazy.compactMap { $0.failure(isTimeout: isTimeout) }.first
  }

  /// - Parameters:
  ///   - transfer: The transfer with the files of the parts.
  ///   - easy: The handle that will send it.
  init(_ parts: [FormPart], of transfer: QueuedTransfer, for easy: EasyHandle) {
    // Fails only when memory is exhausted, as any allocation of Swift.
    guard let raw = curl_mime_init(easy.raw) else { fatalError("libcurl cannot make a form") }
    self.raw = raw
    for part in parts { add(part, transfer) }
  }

  deinit { curl_mime_free(raw) }

  private func add(_ part: FormPart, _ transfer: QueuedTransfer) {
    let new = curl_mime_addpart(raw)
    // These calls fail only when memory is exhausted.
    var codes = [curl_mime_name(new, part.name)]
    switch part.content {
    // The length is given because a text may have NUL bytes.
    case .text(let text): codes.append(text.withCString { curl_mime_data(new, $0, text.utf8.count) })
    case .file(let location):
      let files = transfer.request.files
      guard let file = files[location] else { preconditionFailure("a file of a form was not checked") }
      let reader = FormFileReader(file) { [reading = files.reading, id = transfer.id] in reading(id, $0) }
      readers.append(reader)
      let context = Unmanaged.passUnretained(reader).toOpaque()
      codes.append(curl_mime_data_cb(new, curl_off_t(file.size), readFile, seekFile, nil, context))
    }
    if let filename = part.filename { codes.append(curl_mime_filename(new, filename)) }
    if let type = part.type { codes.append(curl_mime_type(new, type)) }
    precondition(codes.allSatisfy { $0 == CURLE_OK }, "libcurl cannot make a part of a form")
  }
}

/// Reads a file of a form piece by piece on a thread for files, so that a slow disk does not block the engine's thread. The
/// file is open from the first piece to the last.
private final class FormFileReader: Sendable {
  private struct State {
    var open: OpenFormFile?
    /// The bytes at `offset`.
    var piece: ArraySlice<UInt8> = []
    /// The offset in the file of the next byte for libcurl.
    var offset = 0
    var isReading = false
    /// Whether libcurl waits for bytes.
    var isPaused = false
    var failure: TransferError?
  }

  private let file: FormFile
  private let perform: @Sendable (@escaping @Sendable () -> Void) -> Void
  private let state = Mutex(State())

  private static let pieceBytes = 256 << 10

  /// - Parameter perform: Runs a function on a thread for files, then continues the transfer.
  init(_ file: FormFile, perform: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    (self.file, self.perform) = (file, perform)
  }

  /// Closes the file on a thread for files, since that may wait for the disk, too.
  deinit {
    if let open = state.withLock({ $0.open }) { perform { withExtendedLifetime(open) {} } }
  }

  /// Whether libcurl waits for bytes or a failure that are there.
  var canContinue: Bool { state.withLock { $0.isPaused && !$0.isReading } }

  /// - Parameter isTimeout: Whether the time for the request is over.
  func failure(isTimeout: Bool) -> TransferError? {
    state.withLock { $0.failure ?? (isTimeout && $0.isPaused ? file.timeout : nil) }
  }

  /// Moves the next bytes. Returns their number, 0 at the end, or what pauses or aborts the transfer.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let (result, mustRead) = state.withLock { state -> (Int, Bool) in
      guard state.failure == nil else { return (Int(CURL_READFUNC_ABORT), false) }
      let count = min(buffer.count, state.piece.count)
      state.piece.prefix(count).withUnsafeBytes { buffer.copyMemory(from: $0) }
      state.piece.removeFirst(count)
      state.offset += count
      let needsMore = state.piece.isEmpty && state.offset < file.size
      state.isPaused = needsMore && count == 0
      let mustRead = needsMore && !state.isReading
      if mustRead { state.isReading = true }
      return (state.isPaused ? Int(CURL_READFUNC_PAUSE) : count, mustRead)
    }
    if mustRead { perform { self.readPiece() } }
    return result
  }

  /// Continues from another offset.
  func seek(to offset: Int) {
    state.withLock { ($0.offset, $0.piece) = (offset, []) }
  }

  private func readPiece() {
    let (open, offset) = state.withLock { ($0.open, $0.offset) }
    let result = Result { () throws(TransferError) in
      let open = if let open { open } else { try file.open() }
      return (open, try open.read(at: offset, maxCount: Self.pieceBytes))
    }
    state.withLock { state in
      state.isReading = false
      switch result {
      case .failure(let error): state.failure = error
      case .success((let open, let bytes)):
        state.open = offset + bytes.count < file.size ? open : nil
        // libcurl may have rewound the form.
        if state.offset == offset { state.piece = bytes[...] }
      }
    }
  }
}

private let readFile: curl_read_callback = { buffer, size, count, context in
  guard let context else { return Int(CURL_READFUNC_ABORT) }
  let reader = Unmanaged<FormFileReader>.fromOpaque(context).takeUnretainedValue()
  return reader.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
}

/// libcurl rewinds a form that it sends again.
private let seekFile: curl_seek_callback = { context, offset, origin in
  guard let context, origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
  Unmanaged<FormFileReader>.fromOpaque(context).takeUnretainedValue().seek(to: Int(offset))
  return CURL_SEEKFUNC_OK
}

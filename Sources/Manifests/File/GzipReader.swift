import CZlib

/// Unpacks gzip (RFC 1952) piece by piece with zlib, member after member, in memory that does not depend on the data.
///
/// Zero bytes after the last member are ignored, as gzip does; other data there is an error.
final class GzipReader {
  /// The limit of the ratio of unpacked to packed size, at any point beyond `freeBytes`: deflate reaches 1032, lists of
  /// pictures 10 to 50.
  static let ratioLimit = 200
  static let freeBytes = 8 << 20

  private enum State { case beforeMember, inMember, inPadding }

  // zlib's state points back to the structure, which therefore must not move.
  private let stream: UnsafeMutablePointer<z_stream>
  private let buffer: UnsafeMutableRawBufferPointer
  private var state = State.beforeMember
  private var hasMember = false
  private var filled = 0
  private var packed = 0
  private var unpacked = 0

  /// Ends the program when memory is exhausted.
  init() {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    buffer = .allocate(byteCount: 256 << 10, alignment: 16)
    // 16 more than the largest window's bits: gzip only.
    let opened = inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    precondition(opened == Z_OK, "zlib cannot start")
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
    buffer.deallocate()
  }

  /// Unpacks the next piece of the file. Calls `body` with the unpacked data, 256 KiB at a time.
  /// - Throws: `ManifestProblem` with code `syntax` for damage, `too-large` beyond the limits; what `body` throws.
  func unpack(_ piece: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: piece.baseAddress?.assumingMemoryBound(to: UInt8.self))
    stream.pointee.avail_in = UInt32(piece.count)
    let before = packed
    while try beginMember() {
      let result = try inflateOnce()
      packed = before + piece.count - Int(stream.pointee.avail_in)
      try checkRatio()
      if filled == buffer.count { try deliver(body) }
      switch result {
      case Z_STREAM_END: state = .beforeMember
      case Z_BUF_ERROR: return  // All of the piece has been read, and its data is in the buffer.
      default: break
      }
    }
    packed = before + piece.count
  }

  /// Delivers the rest.
  /// - Throws: `ManifestProblem` with code `syntax` when the data ends within a member or has none.
  func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    guard state != .inMember else { throw ManifestProblem(.syntax, "the gzip data is cut off", at: .file) }
    guard hasMember else { throw ManifestProblem(.syntax, "the file is empty, so it is not gzip", at: .file) }
    try deliver(body)
  }

  /// - Returns: Whether there is data to unpack.
  private func beginMember() throws(ManifestProblem) -> Bool {
    guard state != .inMember else { return true }
    if hasMember { passPadding() }
    guard stream.pointee.avail_in > 0 else { return false }
    guard state == .beforeMember else {
      throw ManifestProblem(.syntax, "something else follows the gzip data", at: .file)
    }
    inflateReset(stream)
    state = .inMember
    return true
  }

  private func passPadding() {
    while stream.pointee.avail_in > 0, stream.pointee.next_in.pointee == 0 {
      stream.pointee.next_in += 1
      stream.pointee.avail_in -= 1
      state = .inPadding
    }
  }

  private func inflateOnce() throws(ManifestProblem) -> Int32 {
    let room = buffer.count - filled
    stream.pointee.next_out = buffer.baseAddress?.advanced(by: filled).assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = UInt32(room)
    let result = inflate(stream, Z_NO_FLUSH)
    let made = room - Int(stream.pointee.avail_out)
    filled += made
    unpacked += made
    switch result {
    case Z_OK, Z_BUF_ERROR: break
    case Z_STREAM_END: hasMember = true
    default:
      let reason = stream.pointee.msg.map { String(cString: $0) } ?? "error \(result)"
      let what = hasMember || unpacked > 0 ? "the gzip data is damaged" : "the file is not gzip, or it is damaged"
      throw ManifestProblem(.syntax, "\(what): \(reason)", at: .file)
    }
    return result
  }

  private func checkRatio() throws(ManifestProblem) {
    guard unpacked > Self.freeBytes, unpacked / Self.ratioLimit > packed else { return }
    throw ManifestProblem(
      .tooLarge,
      "beyond \(Self.freeBytes) bytes, gzip may unpack to \(Self.ratioLimit) times its size; here \(packed) bytes "
        + "became \(unpacked)", at: .file)
  }

  private func deliver(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let ready = UnsafeRawBufferPointer(rebasing: buffer[..<filled])
    filled = 0
    if !ready.isEmpty { try body(ready) }
  }
}

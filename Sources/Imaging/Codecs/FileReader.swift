import Glibc

/// Reads parts of an open file without moving its offset (pread(2)), or of bytes.
struct FileReader {
  /// What has been found out about the file.
  private final class Known {
    /// The beginning of the file, which is read once: it has most headers, and small files whole.
    var beginning: [UInt8]?
    /// The file's size in bytes.
    var size: Int64?
  }

  private static let beginningBytes = 4 << 10

  private let descriptor: Int32
  private let isCancelled: () -> Bool
  private let known = Known()
  private let isInMemory: Bool

  /// Creates a reader of a seekable file, which is not closed.
  /// - Parameters:
  ///   - size: The file's size in bytes. Default: nil, not known.
  ///   - isCancelled: Called before every read; when it returns true the read throws `cancelled`.
  init(_ descriptor: Int32, size: Int64? = nil, isCancelled: @escaping () -> Bool = { false }) {
    (self.descriptor, self.isCancelled, isInMemory) = (descriptor, isCancelled, false)
    known.size = size
  }

  /// Creates a reader of bytes, as if they were a file.
  init(_ bytes: [UInt8], isCancelled: @escaping () -> Bool = { false }) {
    (descriptor, self.isCancelled, isInMemory) = (-1, isCancelled, true)
    (known.beginning, known.size) = (bytes, Int64(bytes.count))
  }

  /// The file's size in bytes, as it was when it was first needed. The offset may be at the end afterwards.
  ///
  /// Not fstat: glibc uses newfstatat, which a confined process may not call because it also takes paths.
  /// - Throws: `io`.
  func size() throws(ImagingError) -> Int64 {
    if let size = known.size { return size }
    let size = Int64(lseek(descriptor, 0, SEEK_END))
    guard size >= 0 else { throw .io(errno, doing: "the picture cannot be read") }
    known.size = size
    return size
  }

  /// Reads up to `count` bytes from an offset; fewer at the file's end.
  /// - Throws: `io`, `cancelled`.
  func bytes(_ count: Int, at offset: Int64) throws(ImagingError) -> [UInt8] {
    if isCancelled() { throw .cancelled }
    // The standard library would write the size of the shared empty array, which is a data race.
    if count == 0 { return [] }
    guard isInMemory || (0..<Int64(Self.beginningBytes)).contains(offset) else { return try read(count, at: offset) }
    if known.beginning == nil { known.beginning = try read(Self.beginningBytes, at: 0) }
    let beginning = known.beginning ?? []
    let isWhole = isInMemory || beginning.count < Self.beginningBytes
    guard isWhole || offset + Int64(count) <= Self.beginningBytes else { return try read(count, at: offset) }
    guard (0..<Int64(beginning.count)).contains(offset) else { return [] }
    return Array(beginning[Int(offset)...].prefix(count))
  }

  /// Reads until all bytes are there or the file ends: some file systems return fewer at a time.
  private func read(_ count: Int, at offset: Int64) throws(ImagingError) -> [UInt8] {
    let count = known.size.map { Int(max(0, min(Int64(count), $0 - offset))) } ?? count
    if count == 0 { return [] }
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      while initialized < count, failure == 0 {
        let rest = UnsafeMutableBufferPointer(rebasing: buffer[initialized..<count])
        let read = pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(initialized))
        if read > 0 {
          initialized += read
        } else if read == 0 {
          // An offset beyond the end says nothing of it.
          if initialized > 0 { known.size = offset + Int64(initialized) }
          break
        } else if errno != EINTR {
          failure = errno
        }
      }
    }
    guard failure == 0 else { throw .io(failure, doing: "the picture cannot be read") }
    return bytes
  }
}

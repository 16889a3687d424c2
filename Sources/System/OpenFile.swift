import CLinux
import Foundation

/// An open file; closed when released.
///
/// Reads and writes are complete: interrupted and partial ones are continued. Methods throw `SystemError`.
package final class OpenFile: Sendable {
  package let descriptor: Int32
  package let path: String

  private init(opening path: String, _ flags: Int32, mode: mode_t = 0) throws(SystemError) {
    let opened = uninterrupted { open(path, flags | O_CLOEXEC, mode) }
    guard opened >= 0 else { throw SystemError("open", path, isFolder: flags & O_DIRECTORY != 0) }
    descriptor = opened
    self.path = path
  }

  /// Standard input. Opening it by a name would not wait for the writer of a pipe.
  package static func standardInput() throws(SystemError) -> OpenFile {
    let copy = fcntl(0, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw SystemError("fcntl", "standard input") }
    return OpenFile(adopting: copy, path: "standard input")
  }

  /// Adopts a descriptor, which is closed when the file is released.
  init(adopting descriptor: Int32, path: String) { (self.descriptor, self.path) = (descriptor, path) }

  deinit { close(descriptor) }

  /// Opens for reading; never waits for a pipe's writer.
  package convenience init(reading path: String, followingLinks: Bool = true) throws(SystemError) {
    try self.init(opening: path, O_RDONLY | O_NONBLOCK | (followingLinks ? 0 : O_NOFOLLOW))
  }

  /// Creates a file that must not exist yet, open for reading and writing.
  package convenience init(creating path: String, mode: mode_t = 0o666) throws(SystemError) {
    try self.init(opening: path, O_RDWR | O_CREAT | O_EXCL, mode: mode)
  }

  /// Creates a file in memory that only its owner may read.
  /// - Parameter name: Its name in tools.
  package init(inMemory name: String) throws(SystemError) {
    descriptor = clinux_create_in_memory(name)
    path = "/proc/self/fd/\(descriptor)"
    guard descriptor >= 0, uninterrupted({ fchmod(descriptor, 0o600) }) == 0 else {
      throw SystemError("memfd_create", name)
    }
  }

  /// Creates a file in memory with bytes that no one can change, at its beginning.
  /// - Parameter name: Its name in tools.
  package convenience init(inMemory name: String, sealed bytes: [UInt8]) throws(SystemError) {
    let created = clinux_create_sealable_in_memory(name)
    guard created >= 0 else { throw SystemError("memfd_create", name) }
    self.init(adopting: created, path: "/proc/self/fd/\(created)")
    try write(bytes)
    // A descriptor that is handed on keeps its position.
    guard lseek(created, 0, SEEK_SET) == 0 else { throw SystemError("lseek", name) }
    guard uninterrupted({ clinux_seal(created) }) == 0 else { throw SystemError("fcntl", name) }
  }

  /// Opens a folder, to sync it.
  package convenience init(folder path: String) throws(SystemError) {
    try self.init(opening: path, O_RDONLY | O_DIRECTORY)
  }

  package func status() throws(SystemError) -> FileStatus {
    var status = stat()
    guard uninterrupted({ fstat(descriptor, &status) }) == 0 else { throw SystemError("fstat", path) }
    return FileStatus(status)
  }

  /// The offset of the first hole of the file (`SEEK_HOLE`), which takes no space and is read as zeros; nil when it has none, or
  /// the file system does not tell. The file's position does not matter, and does not change.
  package var firstHole: Int? {
    let (stand, hole) = (lseek(descriptor, 0, SEEK_CUR), clinux_seek_hole(descriptor, 0))
    guard stand >= 0 else { return nil }
    _ = lseek(descriptor, stand, SEEK_SET)
    // File systems have been wrong about recent writes.
    guard hole >= 0, let start = try? bytes(8, at: hole), !start.isEmpty, start.allSatisfy({ $0 == 0 }) else {
      return nil
    }
    return hole
  }

  package func readAll() throws -> Data {
    var data = Data()
    try eachChunk { data.append(contentsOf: $0) }
    return data
  }

  /// Calls `body` with the rest of the file, or the next `limit` bytes of it, in pieces of at most 256 KiB.
  /// - Parameter isWaiting: Whether it waits for more where a read would not, because another process has set `O_NONBLOCK`.
  ///   Default: false.
  package func eachChunk(
    upTo limit: Int = .max, isWaiting: Bool = false, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
    defer { buffer.deallocate() }
    var left = limit
    while left > 0 {
      let count = read(descriptor, buffer.baseAddress, min(left, buffer.count))
      if count == 0 { return }
      if count > 0 {
        try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        left -= count
      } else if isWaiting, errno == EAGAIN {
        var readable = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&readable, 1, -1)
      } else if errno != EINTR {
        throw SystemError("read", path)
      }
    }
  }

  /// Up to `count` bytes from the file's beginning, independent of its position.
  package func readStart(_ count: Int) throws(SystemError) -> [UInt8] { try bytes(count, at: 0) }

  /// Up to `count` bytes from an offset on (`pread`), independent of the file's position.
  package func bytes(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
    var failure: SystemError?
    // The pages beyond the file's end are not touched: clearing a megabyte for each report took as long as a small job.
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, got in
      let read = uninterrupted { pread(descriptor, buffer.baseAddress, count, offset) }
      if read < 0 { failure = SystemError("read", path) }
      got = max(0, read)
    }
    if let failure { throw failure }
    return bytes
  }

  package func write(_ text: String) throws(SystemError) { try Self.write(text, to: descriptor, named: path) }

  package func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    if let failure = Self.write(bytes, to: descriptor) { throw SystemError("write", path, code: failure) }
  }

  package func write(_ bytes: [UInt8]) throws(SystemError) {
    let failure = bytes.withUnsafeBytes { Self.write($0, to: descriptor) }
    if let failure { throw SystemError("write", path, code: failure) }
  }

  /// Writes to an open descriptor.
  /// - Parameter name: Its name in errors.
  package static func write(_ text: String, to descriptor: Int32, named name: String) throws(SystemError) {
    var text = text
    let failure = text.withUTF8 { write(UnsafeRawBufferPointer($0), to: descriptor) }
    if let failure { throw SystemError("write", name, code: failure) }
  }

  /// Writes all bytes at an offset (`pwrite`), independent of the file's position.
  package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) {
    var (rest, offset) = (bytes, offset)
    while !rest.isEmpty {
      let count = uninterrupted { pwrite(descriptor, rest.baseAddress, rest.count, offset) }
      guard count >= 0 else { throw SystemError("pwrite", path) }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      offset += count
    }
  }

  /// Writes all bytes to an open descriptor. Waits where a write would not, because another process has set `O_NONBLOCK`.
  /// - Returns: `errno` of a write that failed.
  package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
    var rest = bytes
    while !rest.isEmpty {
      let count = uninterrupted { Glibc.write(descriptor, rest.baseAddress, rest.count) }
      if count >= 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if errno == EAGAIN {
        var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&writable, 1, -1)
      } else {
        return errno
      }
    }
    return nil
  }

  /// Overwrites the file with a text from its beginning, and truncates it after that: it is never empty in between.
  package func replaceContents(with text: String) throws(SystemError) {
    guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw SystemError("lseek", path) }
    try write(text)
    try truncate(to: text.utf8.count)
  }

  /// The most bytes that the kernel copies at a time: even a slow disk needs only a fraction of a second for them.
  private static let copiedAtOnce = 16 << 20

  /// Copies the whole file to an empty one: by sharing blocks, in the kernel, or by reading and writing, whichever the file
  /// systems allow. The file's position does not matter, and does not change, so that several threads may copy the same file.
  /// - Parameter isCancelled: Called before every piece that is copied, of at most 16 MiB.
  /// - Throws: `SystemError`, `ECANCELED` when `isCancelled` has returned true.
  package func copy(to target: OpenFile, isCancelled: () -> Bool = { false }) throws(SystemError) {
    if clinux_clone(target.descriptor, descriptor) == 0 { return }
    _ = try append(0..<Int.max, to: target, isCancelled)
  }

  /// Appends a range of the file to another: in the kernel, or by reading and writing, whichever the file systems allow. The
  /// file's position does not matter, and does not change.
  /// - Parameter isCancelled: Called before every piece that is copied, of at most 16 MiB.
  /// - Throws: `SystemError`, also when the file ends before the range does, `ECANCELED` when `isCancelled` has returned true.
  package func copy(
    _ range: Range<Int>, to target: OpenFile, isCancelled: () -> Bool = { false }
  ) throws(SystemError) {
    guard try append(range, to: target, isCancelled) == range.upperBound else {
      throw SystemError("read", path, code: EIO)
    }
  }

  /// - Returns: The offset of the first byte that was not copied: the range's end, or the file's.
  private func append(
    _ range: Range<Int>, to target: OpenFile, _ isCancelled: () -> Bool
  ) throws(SystemError) -> Int {
    var copied = range.lowerBound
    while copied < range.upperBound {
      if isCancelled() { throw SystemError("copy_file_range", path, code: ECANCELED) }
      let count = clinux_copy_range(
        descriptor, copied, target.descriptor, min(Self.copiedAtOnce, range.upperBound - copied))
      if count == 0 { return copied }
      if count > 0 {
        copied += count
      } else if errno != EINTR {
        // Sandboxes and network file systems refuse it in many ways.
        if ErrorCause(errno: errno) == .space { throw SystemError("copy_file_range", target.path) }
        return try appendByHand(copied..<range.upperBound, to: target, isCancelled)
      }
    }
    return copied
  }

  /// - Returns: The offset of the first byte that was not copied.
  private func appendByHand(
    _ range: Range<Int>, to target: OpenFile, _ isCancelled: () -> Bool
  ) throws(SystemError) -> Int {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
    defer { buffer.deallocate() }
    var copied = range.lowerBound
    while copied < range.upperBound {
      if isCancelled() { throw SystemError("read", path, code: ECANCELED) }
      let piece = min(buffer.count, range.upperBound - copied)
      let count = uninterrupted { pread(descriptor, buffer.baseAddress, piece, copied) }
      guard count >= 0 else { throw SystemError("read", path) }
      if count == 0 { return copied }
      try target.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      copied += count
    }
    return copied
  }

  /// Starts writing unsynced data to the disk (`sync_file_range`), so that a later sync of this file waits less. It guarantees
  /// nothing, and a file system without it is no error.
  package func startWriting() { _ = clinux_start_writing(descriptor) }

  /// `fsync`. A sync that has failed is never tried again on the same descriptor: the second may report success for lost pages.
  /// A sync that a signal has interrupted has not failed.
  package func sync() throws(SystemError) {
    guard uninterrupted({ fsync(descriptor) }) == 0 else { throw SystemError("fsync", path) }
  }

  /// Who has a file open for writing, as far as the kernel tells.
  package enum Writers: Sendable {
    case nobody
    case somebody
    /// The file belongs to another user, or its file system does not tell.
    case unknown
  }

  /// Whether a process, including this one, has the file open or mapped for writing, under any name: then nobody can have a
  /// read lease (`F_SETLEASE`). The file must be open for reading only. The answer is meaningless on a network file system,
  /// see `OpenFolder.isOnNetwork`.
  package var writers: Writers {
    if clinux_try_read_lease(descriptor) == 0 { return .nobody }
    return errno == EAGAIN ? .somebody : .unknown
  }

  /// Whether nobody has the file open for writing, as far as the kernel tells.
  package var hasNoWriter: Bool { writers == .nobody }

  /// Takes the file's exclusive lock, which the kernel releases when the process dies.
  /// - Returns: Whether it was free.
  package func lockExclusively() throws(SystemError) -> Bool {
    if uninterrupted({ clinux_lock(descriptor) }) == 0 { return true }
    guard errno == EAGAIN || errno == EACCES else { throw SystemError("fcntl", path) }
    return false
  }

  /// Who holds a file's lock.
  package enum LockHolder: Sendable { case nobody, writer, reader }

  /// Who else holds the file's lock. Checking does not affect the lock.
  package func lockHolder() throws(SystemError) -> LockHolder {
    switch clinux_lock_holder(descriptor) {
    case 0: return .nobody
    case 1: return .writer
    case 2: return .reader
    default: throw SystemError("fcntl", path)
    }
  }

  /// Removes the permissions of all users but the owner.
  package func makePrivate() throws(SystemError) {
    guard uninterrupted({ fchmod(descriptor, 0o600) }) == 0 else { throw SystemError("fchmod", path) }
  }

  /// Truncates the file to so many bytes.
  package func truncate(to size: Int = 0) throws(SystemError) {
    guard uninterrupted({ ftruncate(descriptor, size) }) == 0 else { throw SystemError("ftruncate", path) }
  }
}

import Glibc
import System

/// What a transfer writes its body to: memory as long as the body is small and there is memory, then a file. For a body that is
/// in memory at the end of its transfer `TransferOutcome.settled` computes the digest, and moves it to its file unless it may stay.
package final class BodyStore: @unchecked Sendable {  // used by one transfer at a time, then by its starter
  private enum Content {
    case memory([UInt8], reserved: Int, BodyMemory)
    /// The file is closed with the store; nil when the caller owns the descriptor.
    case file(Int32, OpenFile?)
  }

  private var content: Content
  private let create: () throws(SystemError) -> OpenFile
  private var announced = 0

  /// - Parameters:
  ///   - memory: The memory for small bodies.
  ///   - create: Creates the empty file of a body that is not kept in memory. Called once at most, on the thread that transfers
  ///     or by `moveToFile`.
  package init(in memory: BodyMemory, orFile create: @escaping () throws(SystemError) -> OpenFile) {
    (content, self.create) = (.memory([], reserved: 0, memory), create)
  }

  /// - Parameter file: Open for writing, empty, or at the end of the partial body that the request continues.
  package init(_ file: OpenFile) {
    content = .file(file.descriptor, file)
    create = { () throws(SystemError) in file }
  }

  /// - Parameter descriptor: As for a file. The caller owns it, and closes it after the transfer's completion.
  package init(descriptor: Int32) {
    content = .file(descriptor, nil)
    create = { () throws(SystemError) in throw SystemError("write", "the body", code: EBADF) }
  }

  deinit { if case .memory(_, let reserved, let memory) = content { memory.release(reserved) } }

  /// Whether the body, as far as it has arrived, is in a file.
  package var isInFile: Bool {
    if case .file = content { true } else { false }
  }

  /// Takes the body out of the memory.
  /// - Returns: nil when it is in a file.
  package func takeBytes() -> BodyBytes? {
    guard case .memory(let bytes, let reserved, let memory) = content else { return nil }
    content = .memory([], reserved: 0, memory)
    return BodyBytes(bytes, reserved: reserved, in: memory)
  }

  /// Moves a body that is in memory to the file.
  package func moveToFile() throws(SystemError) {
    guard case .memory(let bytes, let reserved, let memory) = content else { return }
    let file = try create()
    content = .file(file.descriptor, file)
    memory.release(reserved)
    try file.write(bytes)
    memory.takeBack(bytes)
  }

  /// Moves a body that is in memory, and does not stay there, to the file.
  func settle() throws(SystemError) {
    var isLarge = false
    readHeld { isLarge = $0.count > BodyMemory.largest }
    if isLarge { try moveToFile() }
  }

  /// Reads a body that is in memory.
  /// - Parameter read: Not called when it is in a file.
  func readHeld(_ read: (UnsafeRawBufferPointer) -> Void) {
    if case .memory(let bytes, _, _) = content { bytes.withUnsafeBytes(read) }
  }

  /// Tells the size of the body, before it is written: a large one is written to its file from the beginning.
  func announce(_ bytes: Int) { announced = bytes }

  /// Appends a piece.
  /// - Parameter digest: Gets the bytes that are written to the file, in order.
  func append(_ piece: UnsafeRawBufferPointer, digest: (UnsafeRawBufferPointer) -> Void) throws(SystemError) {
    if case .memory(var bytes, let reserved, let memory) = content {
      let size = max(announced, bytes.count + piece.count)
      let needed = BodyMemory.capacity(for: size)
      if size <= BodyMemory.largestArriving, needed <= reserved || memory.reserve(needed - reserved) {
        // Not copied while another reference to it exists.
        content = .memory([], reserved: 0, memory)
        if bytes.isEmpty || needed > max(reserved, BodyMemory.largest) {
          let start = bytes
          bytes = memory.buffer(for: size)
          bytes += start
        }
        bytes.append(contentsOf: piece)
        content = .memory(bytes, reserved: max(reserved, needed), memory)
        return
      }
    }
    if !isInFile {
      readHeld(digest)
      try moveToFile()
    }
    guard case .file(let descriptor, _) = content else { return }
    digest(piece)
    if let failure = OpenFile.write(piece, to: descriptor) { throw SystemError("write", "the body", code: failure) }
  }

  /// Empties the store.
  func restart() throws(SystemError) {
    switch content {
    case .memory(_, let reserved, let memory):
      content = .memory([], reserved: 0, memory)
      memory.release(reserved)
    case .file(let descriptor, _):
      guard uninterrupted({ ftruncate(descriptor, 0) }) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
        throw SystemError("ftruncate", "the body")
      }
    }
  }
}

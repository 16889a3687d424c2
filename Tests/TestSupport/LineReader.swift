import Foundation

/// Reads lines from a pipe, and gives up on one that does not come: a test is to fail then, not to hang.
struct LineReader {
  private let file: FileHandle
  private let patience: Int32

  /// - Parameter seconds: For each piece of output, many times what a busy machine takes; by default five minutes.
  init(_ pipe: Pipe, seconds: Int32 = 300) {
    file = pipe.fileHandleForReading
    patience = seconds * 1000
  }

  /// Waits for the next line and returns it without the line break, or what there is at the end; nil at the end.
  /// - Throws: `Silence` when nothing came for that long.
  func next() throws -> String? {
    var line = Data()
    while let byte = try nextByte() {
      guard byte != UInt8(ascii: "\n") else { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  private func nextByte() throws -> UInt8? {
    var ready = pollfd(fd: file.fileDescriptor, events: Int16(POLLIN), revents: 0)
    var count = poll(&ready, 1, patience)
    while count < 0, errno == EINTR { count = poll(&ready, 1, patience) }
    guard count > 0 else { throw Silence() }
    return try file.read(upToCount: 1)?.first
  }

  /// A process said nothing for too long.
  struct Silence: Error {}
}

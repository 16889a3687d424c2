import Foundation

/// Writes many lines with few system calls.
struct LineWriter {
  private let handle: FileHandle
  private var buffer = Data()

  init(_ handle: FileHandle) { self.handle = handle }

  mutating func write(_ line: String) {
    buffer.append(contentsOf: line.utf8)
    buffer.append(UInt8(ascii: "\n"))
    if buffer.count >= 64 << 10 { flush() }
  }

  /// A reader that has gone away no longer wants to know.
  mutating func flush() {
    try? handle.write(contentsOf: buffer)
    buffer.removeAll(keepingCapacity: true)
  }
}

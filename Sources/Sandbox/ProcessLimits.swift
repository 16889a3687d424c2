import CSandbox
import Glibc

/// The resource limits of a process (`setrlimit(2)`).
package struct ProcessLimits: Sendable, Equatable {
  /// Bytes of memory besides those that it has when it is confined.
  package var memory: Int
  /// Bytes of additional memory that its parent may allow later.
  package var extraMemory: Int
  /// The largest file that it may write, in bytes.
  package var fileSize: Int
  /// Seconds of processor time, of the whole process. The parent raises it in time: it ends processes that no parent watches
  /// any more.
  package var processorTime: Int

  package init(memory: Int, extraMemory: Int, fileSize: Int, processorTime: Int) {
    (self.memory, self.extraMemory, self.fileSize) = (memory, extraMemory, fileSize)
    self.processorTime = processorTime
  }

  /// Descriptors: input, output, errors, socket, two files and their duplicates.
  private static let descriptors: UInt64 = 16

  /// - Parameter used: The process's memory in bytes when it is confined.
  func apply(used: UInt64) {
    let soft = used + UInt64(memory)
    csandbox_limit_self(Int32(RLIMIT_DATA.rawValue), soft, soft + UInt64(extraMemory))
    csandbox_limit_self(Int32(RLIMIT_FSIZE.rawValue), UInt64(fileSize), UInt64(fileSize))
    csandbox_limit_self(Int32(RLIMIT_CPU.rawValue), UInt64(processorTime), UInt64.max)
    csandbox_limit_self(Int32(RLIMIT_NOFILE.rawValue), Self.descriptors, Self.descriptors)
    csandbox_limit_self(Int32(RLIMIT_CORE.rawValue), 0, 0)
    csandbox_limit_self(Int32(__RLIMIT_NPROC.rawValue), 0, 0)
  }

  /// Bytes of private memory that the process may write to (`proc_pid_statm(5)`); 256 MiB when that cannot be read.
  static var dataBytes: Int {
    var text = [CChar](repeating: 0, count: 256)
    guard let file = fopen("/proc/self/statm", "re") else { return 256 << 20 }
    defer { fclose(file) }
    guard fgets(&text, Int32(text.count), file) != nil else { return 256 << 20 }
    let fields = text.withUnsafeBufferPointer { buffer in
      buffer.baseAddress.map { String(cString: $0).split(whereSeparator: \.isWhitespace) } ?? []
    }
    guard fields.count > 5, let pages = Int(fields[5]) else { return 256 << 20 }
    return pages * Int(getpagesize())
  }
}

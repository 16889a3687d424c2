import Foundation
import Scheduling
import System

/// How many downloads run at once.
package enum DownloadLimit: Sendable, Equatable {
  /// As many as increase the throughput, from 16 to 256, as far as descriptors and memory allow.
  case auto
  case fixed(Int)
}

extension DownloadLimit {
  /// Each download has a file and a connection, and idle connections stay open. Half of the descriptors are reserved.
  private static var mostByDescriptors: Int { max(1, DescriptorLimit.current / 4) }

  /// Memory of one download, including the buffers of the system and of TLS, in bytes.
  private static let memory: UInt64 = 4 << 20

  package var window: DownloadWindow {
    switch self {
    case .auto:
      let byMemory = Int(clamping: ProcessInfo.processInfo.physicalMemory / Self.memory)
      return DownloadWindow(upTo: min(Self.mostByDescriptors, max(DownloadWindow.least, byMemory)))
    case .fixed(let number): return DownloadWindow(fixed: min(number, Self.mostByDescriptors))
    }
  }
}

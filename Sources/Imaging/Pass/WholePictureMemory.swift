import Foundation

/// The memory for pictures that cannot pass row by row: coefficients of a JPEG of several scans, pixels of an interlaced
/// PNG or of one that is turned. One budget for all passes at once: who finds it used up waits.
package final class WholePictureMemory: @unchecked Sendable {  // `used` is only touched under the condition's lock
  /// Bytes in all. Default 1 GiB: 268 402 689 pixels of 4 bytes.
  let limit: Int
  private var used = 0
  private let freed = NSCondition()

  /// How often somebody who waits asks whether to stop, in seconds.
  private static let patience = 0.1

  /// Memory of some size.
  package init(limit: Int = 1 << 30) { self.limit = limit }

  /// Bytes that are taken.
  package var bytesInUse: Int {
    freed.lock()
    defer { freed.unlock() }
    return used
  }

  /// A part of the memory, given back with the object.
  final class Share {
    private let memory: WholePictureMemory
    private let bytes: Int

    fileprivate init(_ memory: WholePictureMemory, _ bytes: Int) {
      self.memory = memory
      self.bytes = bytes
    }

    deinit { memory.giveBack(bytes) }
  }

  /// Takes all that a pass needs at once, so that nobody waits while holding a part; waits until there is so much.
  /// - Throws: `image-too-large` when there never will be; `cancelled`.
  func share(_ bytes: Int, for info: ImageInfo, isCancelled: () -> Bool) throws(ImagingError) -> Share {
    guard bytes <= limit else {
      throw ImagingError(
        code: .imageTooLarge,
        message: """
          \(limit) bytes are the limit for pictures that are interlaced, progressive or turned; \
          \(info.width) × \(info.height) needs \(bytes)
          """)
    }
    freed.lock()
    defer { freed.unlock() }
    while used > limit - bytes {
      if isCancelled() { throw .cancelled }
      _ = freed.wait(until: Date(timeIntervalSinceNow: Self.patience))
    }
    used += bytes
    return Share(self, bytes)
  }

  private func giveBack(_ bytes: Int) {
    freed.lock()
    used -= bytes
    freed.broadcast()
    freed.unlock()
  }
}

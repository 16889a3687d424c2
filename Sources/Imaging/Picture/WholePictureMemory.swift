import Foundation
import System

/// The memory budget for parts of pictures larger than a row: coefficients of a JPEG with several scans or optimized, pixels of an
/// interlaced PNG or GIF, indices of a PNG that may get a palette, pixels of a WebP, AVIF or HEIC, of a BMP in runs, of strips or
/// tiles of a TIFF, or of a picture that is rotated, the rows that a stage needs at once.
/// All concurrent passes share one budget and wait while it is used up, and are served in the order in which they asked.
package final class WholePictureMemory: @unchecked Sendable {  // all state is guarded by `freed`
  /// The budget in bytes. Default 1 GiB: 268 402 689 pixels of 4 bytes.
  private var limit: Int
  private var used = 0
  private var kept: [Piece] = []
  private let freed = NSCondition()
  /// The numbers of the requests that wait, the oldest first.
  private var waiting: [Int] = []
  private var lastNumber = 0

  /// The interval at which a waiting pass checks for cancellation, in seconds.
  private static let pollInterval = 0.1

  /// An allocation.
  fileprivate struct Piece {
    let start: UnsafeMutableRawPointer
    let count: Int
  }

  /// Bytes of free blocks that are kept for reuse: as much as web-sized pictures need on two or four processors.
  private static let maxKept = 16 << 20

  package init(limit: Int = 1 << 30) { self.limit = limit }

  /// Changes the budget. Existing shares keep their size.
  package func setLimit(_ bytes: Int) {
    freed.lock()
    defer { freed.unlock() }
    guard bytes != limit else { return }
    limit = bytes
    freed.broadcast()
  }

  /// The bytes of all shares.
  package var bytesInUse: Int {
    freed.lock()
    defer { freed.unlock() }
    return used
  }

  /// A part of the budget, released with the object.
  package final class Share: Sendable {
    private let memory: WholePictureMemory
    private let bytes: Int

    fileprivate init(_ memory: WholePictureMemory, _ bytes: Int) { (self.memory, self.bytes) = (memory, bytes) }

    deinit { memory.release(bytes) }
  }

  /// A block of memory, which is reused after the object is gone. Its size is part of the owner's share.
  final class Block {
    /// The first byte, aligned to a page.
    var start: UnsafeMutableRawPointer { piece.start }
    private let piece: Piece
    private let memory: WholePictureMemory

    fileprivate init(_ piece: Piece, _ memory: WholePictureMemory) { (self.piece, self.memory) = (piece, memory) }

    deinit { memory.keep(piece) }
  }

  /// Returns a block of at least `bytes` bytes with undefined content. A free block is preferred: mapping and clearing new pages
  /// takes longer than the whole work on them.
  /// - Throws: `image-too-large` when the system has not enough memory.
  func block(_ bytes: Int) throws(ImagingError) -> Block {
    freed.lock()
    let index = kept.indices.filter { kept[$0].count >= bytes }.min { kept[$0].count < kept[$1].count }
    let used = index.map { kept.remove(at: $0) }
    freed.unlock()
    if let used { return Block(used, self) }
    var start: UnsafeMutableRawPointer?
    guard posix_memalign(&start, 4096, bytes) == 0, let start else {
      throw ImagingError(code: .imageTooLarge, message: "there is no memory for \(ByteCount(bytes)) of a whole picture")
    }
    return Block(Piece(start: start, count: bytes), self)
  }

  private func keep(_ piece: Piece) {
    freed.lock()
    kept.append(piece)
    // The oldest are dropped first: they were too small for recent pictures.
    var dropped: [Piece] = []
    while kept.reduce(0, { $0 + $1.count }) > Self.maxKept { dropped.append(kept.removeFirst()) }
    freed.unlock()
    for piece in dropped { free(piece.start) }
  }

  deinit {
    for piece in kept { free(piece.start) }
  }

  /// Takes all memory of a pass in one step, so that no pass waits while it holds a part; waits until enough is free, and behind
  /// those that waited before.
  /// - Parameter picture: The picture's name in the error, such as its size.
  /// - Throws: `image-too-large` when `bytes` exceeds the budget; `cancelled`.
  package func share(
    _ bytes: Int, for picture: any CustomStringConvertible, isCancelled: () -> Bool
  ) throws(ImagingError) -> Share {
    freed.lock()
    defer { freed.unlock() }
    if bytes > 0, !waiting.isEmpty || used > limit - bytes { try wait(for: bytes, picture, isCancelled) }
    used += bytes
    return Share(self, bytes)
  }

  /// Waits until so many bytes are free and no earlier request waits: small requests would otherwise keep a large one waiting for as
  /// long as they come. The lock is held.
  private func wait(
    for bytes: Int, _ picture: any CustomStringConvertible, _ isCancelled: () -> Bool
  ) throws(ImagingError) {
    lastNumber += 1
    let number = lastNumber
    waiting.append(number)
    defer {
      waiting.removeAll { $0 == number }
      freed.broadcast()
    }
    while waiting.first != number || used > limit - bytes {
      guard bytes <= limit else {
        throw ImagingError(
          code: .imageTooLarge,
          message: """
            \(ByteCount(limit)) of memory is the limit, at most half of what there is, for pictures that are interlaced, \
            progressive or optimized, with a palette, WebP, turned or blurred; \(picture) needs more than \(ByteCount(bytes))
            """)
      }
      if isCancelled() { throw .cancelled }
      _ = freed.wait(until: Date(timeIntervalSinceNow: Self.pollInterval))
    }
  }

  private func release(_ bytes: Int) {
    freed.lock()
    used -= bytes
    freed.broadcast()
    freed.unlock()
  }
}

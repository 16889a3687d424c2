import Foundation

/// The memory for what passes hold of a picture besides a row: coefficients of a JPEG of several scans, pixels of an
/// interlaced PNG, of a WebP or of a picture that is turned, the rows that a stage needs at once. One budget for all passes
/// at once: who finds it used up waits.
package final class WholePictureMemory: @unchecked Sendable {  // changes only under the lock
  /// Bytes in all. Default 1 GiB: 268 402 689 pixels of 4 bytes.
  let limit: Int
  private var used = 0
  private var kept: [Piece] = []
  private let freed = NSCondition()

  /// How often somebody who waits asks whether to stop, in seconds.
  private static let patience = 0.1

  /// What malloc gave.
  fileprivate struct Piece {
    let start: UnsafeMutableRawPointer
    let count: Int
  }

  /// Bytes of blocks that are kept for later: as much as the pictures of a page need on two or four processors.
  private static let maxKept = 16 << 20

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

  /// A piece of memory, which may be used again once the object is gone. It is within somebody's share.
  final class Block {
    /// The first byte, with the alignment of a page.
    var start: UnsafeMutableRawPointer { piece.start }
    private let piece: Piece
    private let memory: WholePictureMemory

    fileprivate init(_ piece: Piece, _ memory: WholePictureMemory) {
      self.piece = piece
      self.memory = memory
    }

    deinit { memory.keep(piece) }
  }

  /// A block of at least so many bytes, which hold anything. New pages would cost more than all else that is done with
  /// them, so one that was used before is preferred.
  /// - Throws: `image-too-large` when the system has none.
  func block(_ bytes: Int) throws(ImagingError) -> Block {
    freed.lock()
    let index = kept.indices.filter { kept[$0].count >= bytes }.min { kept[$0].count < kept[$1].count }
    let used = index.map { kept.remove(at: $0) }
    freed.unlock()
    if let used { return Block(used, self) }
    var start: UnsafeMutableRawPointer?
    guard posix_memalign(&start, 4096, bytes) == 0, let start else {
      throw ImagingError(code: .imageTooLarge, message: "there is no memory for \(bytes) bytes of a whole picture")
    }
    return Block(Piece(start: start, count: bytes), self)
  }

  private func keep(_ piece: Piece) {
    freed.lock()
    kept.append(piece)
    // The oldest go first: they are those that were too small.
    var dropped: [Piece] = []
    while kept.reduce(0, { $0 + $1.count }) > Self.maxKept { dropped.append(kept.removeFirst()) }
    freed.unlock()
    for piece in dropped { free(piece.start) }
  }

  deinit {
    for piece in kept { free(piece.start) }
  }

  /// Takes all that a pass needs at once, so that nobody waits while holding a part; waits until there is so much.
  /// - Throws: `image-too-large` when there never will be; `cancelled`.
  func share(_ bytes: Int, for info: ImageInfo, isCancelled: () -> Bool) throws(ImagingError) -> Share {
    guard bytes <= limit else {
      throw ImagingError(
        code: .imageTooLarge,
        message: """
          \(limit) bytes are the limit for what is held of pictures that are interlaced, progressive, WebP, turned or \
          blurred; \
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

import CPNG
import Glibc

/// Holds the last error of libpng and converts it to `ImagingError`.
final class PNGFailure {
  /// The shim's record of the stream and the error.
  let storage: UnsafeMutablePointer<cpng_stream>
  private let stream: StdioStream

  /// - Parameters:
  ///   - bytes: The size of a file whose damaged pixels are accepted. Default: nil, they are an error.
  ///   - ignoresSum: Whether the checksum of all pixels is not compared. Default: false.
  init(_ stream: StdioStream, acceptsDamageIn bytes: Int64? = nil, ignoresSum: Bool = false) {
    self.stream = stream
    storage = .allocate(capacity: 1)
    storage.initialize(to: cpng_stream())
    storage.pointee.file = stream.file
    storage.pointee.accepts_damage = bytes == nil ? 0 : 1
    storage.pointee.size = bytes ?? 0
    storage.pointee.ignores_sum = ignoresSum ? 1 : 0
  }

  deinit {
    cpng_free_stored(&storage.pointee.stored)
    storage.deallocate()
  }

  var whileDecoding: ImagingError {
    if storage.pointee.system_error != 0 {
      return .io(storage.pointee.system_error, doing: "the picture cannot be read")
    }
    if storage.pointee.lacks_memory != 0 { return Self.noMemory(to: "decode") }
    return .png(text, code: storage.pointee.ended != 0 ? .imageTruncated : .imageCorrupt)
  }

  /// Whether zlib has found that the checksum of all pixels is wrong. libpng reports that by its text alone.
  var isWrongChecksum: Bool { text.hasSuffix("incorrect data check") }

  var whileEncoding: ImagingError {
    if storage.pointee.system_error != 0 {
      return .io(storage.pointee.system_error, doing: "the result cannot be written")
    }
    if storage.pointee.lacks_memory != 0 { return Self.noMemory(to: "encode") }
    return ImagingError(code: .filterFailed, message: "the PNG cannot be encoded: \(text)")
  }

  private static func noMemory(to verb: String) -> ImagingError {
    ImagingError(code: .imageTooLarge, message: "there is no memory to \(verb) the PNG")
  }

  /// The library's warning about a wrong checksum; nil without one.
  var damage: PictureDamage? {
    guard let kind = PNGChunk.damage(Int(storage.pointee.damage)) else { return nil }
    let text = withUnsafeBytes(of: storage.pointee.warning) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    return kind == .pixels ? PictureDamage(.anywhere, text) : PictureDamage(kind, text)
  }

  private var text: String {
    withUnsafeBytes(of: storage.pointee.message) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}

import CPNG
import Glibc

/// Holds the last error of libpng and converts it to `ImagingError`.
final class PNGFailure {
  /// The shim's record of the stream and the error.
  let storage: UnsafeMutablePointer<cpng_stream>
  private let stream: StdioStream

  init(_ stream: StdioStream) {
    self.stream = stream
    storage = .allocate(capacity: 1)
    storage.initialize(to: cpng_stream())
    storage.pointee.file = stream.file
  }

  deinit { storage.deallocate() }

  var whileDecoding: ImagingError {
    if storage.pointee.system_error != 0 {
      return .io(storage.pointee.system_error, doing: "the picture cannot be read")
    }
    return .png(text, code: storage.pointee.ended != 0 ? .imageTruncated : .imageCorrupt)
  }

  var whileEncoding: ImagingError {
    if storage.pointee.system_error != 0 {
      return .io(storage.pointee.system_error, doing: "the result cannot be written")
    }
    return ImagingError(code: .filterFailed, message: "the PNG cannot be encoded: \(text)")
  }

  /// The library's warning about a wrong checksum; nil without one.
  var damage: PictureDamage? {
    guard let kind = PNGChunk.damage(Int(storage.pointee.damage)) else { return nil }
    let text = withUnsafeBytes(of: storage.pointee.warning) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    return PictureDamage(kind, text)
  }

  private var text: String {
    withUnsafeBytes(of: storage.pointee.message) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}

import Imaging
import Sandbox

/// A message from a worker. Every value is checked, since the worker may be compromised.
enum DecodingReply: Sendable, Equatable {
  /// It waits for tasks, with these measures of confinement.
  case ready(Confinement)
  /// It announces the time and memory of a pass. If that includes memory, it waits for a grant.
  case demand(PassDemand)
  /// The task is done. A preview of this size follows as a message of its own; 0 for none.
  case finished(ImagePassResult, previewBytes: Int)
  case failed(ImagingError)

  static let maxBytes = 1024

  /// The most bytes of text in an error or in damage.
  private static let maxText = 512

  var message: [UInt8] {
    var writer = MessageWriter()
    switch self {
    case .ready(let confinement):
      writer.writeByte(0)
      writer.writeByte(confinement.rawValue)
    case .demand(let demand):
      writer.writeByte(1)
      writer.write(demand.heldBytes)
      writer.write(demand.pixels)
    case .finished(let result, let previewBytes):
      writer.writeByte(2)
      writer.write(result.source)
      writer.write(result.output)
      writer.write(previewBytes)
      writer.writeByte(result.damage.map { 1 + index(of: $0.kind, in: PictureDamage.Kind.allCases) } ?? 0)
      writer.writeByte(result.damage?.isAccepted == true ? 1 : 0)
      writer.writeRest(Self.shortened(result.damage?.text ?? ""))
    case .failed(let error):
      writer.writeByte(3)
      writer.writeByte(index(of: error.code, in: ImagingError.Code.allCases))
      writer.write(Int(error.systemError))
      writer.writeRest(Self.shortened(error.message))
    }
    return writer.bytes
  }

  private static func shortened(_ text: String) -> String {
    String(decoding: Array(text.utf8.prefix(maxText)), as: UTF8.self)
  }

  /// Reads a message; nil when it is invalid.
  init?(_ message: [UInt8]) {
    var reader = MessageReader(message)
    switch reader.byte() {
    case 0:
      guard let measures = reader.byte() else { return nil }
      self = .ready(Confinement(rawValue: measures))
    case 1:
      guard let bytes = reader.integer(in: 0...Int.max), let pixels = reader.integer(in: 0...Int.max)
      else { return nil }
      self = .demand(PassDemand(heldBytes: bytes, pixels: pixels))
    case 2:
      guard let source = reader.picture(), let output = reader.picture(),
        let previewBytes = reader.integer(in: 0...PreviewScale.maxBytes), let kind = reader.byte(),
        let isAccepted = reader.byte(), let text = reader.text(Self.maxText),
        kind <= PictureDamage.Kind.allCases.count, isAccepted <= 1
      else { return nil }
      let damage =
        kind == 0
        ? nil : PictureDamage(PictureDamage.Kind.allCases[Int(kind) - 1], text, isAccepted: isAccepted == 1)
      guard (damage?.isAccepted ?? false) == (isAccepted == 1) else { return nil }
      self = .finished(
        ImagePassResult(source: source, output: output, damage: damage), previewBytes: previewBytes)
    case 3:
      guard let error = reader.error(maxText: Self.maxText) else { return nil }
      self = .failed(error)
    default: return nil
    }
    guard reader.isAtEnd else { return nil }
  }

  static func == (one: DecodingReply, other: DecodingReply) -> Bool { one.message == other.message }
}

extension MessageWriter {
  fileprivate mutating func write(_ picture: ImageInfo) {
    writeByte(index(of: picture.format, in: ImageFormat.allCases))
    for number in [picture.width, picture.height, picture.frames] { write(number) }
  }
}

extension MessageReader {
  fileprivate mutating func picture() -> ImageInfo? {
    guard let format = member(of: ImageFormat.allCases), let width = integer(in: 1...ImageLimits.maxSide),
      let height = integer(in: 1...ImageLimits.maxSide), let frames = integer(in: 0...Int(UInt32.max))
    else { return nil }
    return ImageInfo(format: format, width: width, height: height, frames: frames)
  }

  /// Reads the rest as text, which is shown in reports, logs and terminals.
  fileprivate mutating func text(_ limit: Int) -> String? {
    let text = restText()
    guard text.utf8.count <= limit + 8,
      text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f && !(0x80...0x9f).contains($0.value) })
    else { return nil }
    return text
  }

  fileprivate mutating func error(maxText: Int) -> ImagingError? {
    guard let code = member(of: ImagingError.Code.allCases), let number = integer(in: 0...4095) else { return nil }
    guard let text = text(maxText), code != .cancelled else { return nil }
    return code == .io
      ? ImagingError(systemError: Int32(number), message: text) : ImagingError(code: code, message: text)
  }
}

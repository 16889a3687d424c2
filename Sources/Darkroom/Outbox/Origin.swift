import Imaging

/// From what a result was made, as the ledger remembers it: what tells whether it would be made again the same, and what
/// its row would say.
struct Origin: Sendable, Equatable {
  /// A `Product`, as text.
  let product: String
  let source: ImageInfo
  let output: ImageInfo

  /// The form that is kept in the ledger.
  var text: String {
    JSONValue.object([
      "product": .string(product), "source": source.value, "output": output.value,
    ]).text
  }

  init(product: Product, source: ImageInfo, output: ImageInfo) {
    (self.product, self.source, self.output) = (product.text, source, output)
  }

  /// - Returns: nil for what another version wrote and this one does not understand.
  init?(text: String) {
    guard let value = try? JSONValue(parsing: text), let product = value["product"]?.string,
      let source = ImageInfo(value["source"]), let output = ImageInfo(value["output"])
    else { return nil }
    (self.product, self.source, self.output) = (product, source, output)
  }
}

extension ImageInfo {
  fileprivate var value: JSONValue {
    .object([
      "format": .string(format.rawValue), "width": .integer(width), "height": .integer(height),
      "frames": frames == 1 ? nil : .integer(frames),
    ])
  }

  fileprivate init?(_ value: JSONValue?) {
    guard let format = value?["format"]?.string.flatMap(ImageFormat.init(rawValue:)),
      let width = value?["width"]?.integer, let height = value?["height"]?.integer
    else { return nil }
    self.init(format: format, width: width, height: height, frames: value?["frames"]?.integer ?? 1)
  }
}

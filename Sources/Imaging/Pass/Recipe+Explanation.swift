extension Recipe {
  /// The pipeline of the recipe in words, a line for each stage.
  package var explanation: [String] {
    let formats = ImageFormat.allCases.map(\.displayName)
    let opaque = ImageFormat.allCases.filter { $0.isWritable && !$0.hasAlpha }.map(\.displayName)
    var lines = [
      "decode: a \(Self.alternatives(formats)), row by row; alpha separate",
      "convert to sRGB: only pictures with another profile", "turn upright: only pictures that EXIF says are turned",
    ]
    for (index, filter) in filters.enumerated() {
      let function = "\(type(of: filter).name)(\(filter.argument))"
      lines.append("filter \(index + 1): \(function), \(type(of: filter).summary)\(filter.stage.window.words)")
    }
    lines.append("flatten onto white: only pictures with alpha, and only for \(Self.alternatives(opaque))")
    lines.append("encode: in the requested format and quality, with the metadata of --metadata")
    if isEmpty {
      lines.append("instead, with the format keep: check the header and copy the file")
    }
    if filters.first?.stage.resampling != nil {
      lines.append("faster, from JPEG: decode at 1/2, 1/4 or 1/8 of its size where the result does not show it")
    }
    return lines + ImagePass.strategies.compactMap { $0.explanation(of: self) }
  }

  /// `A, B or C`
  private static func alternatives(_ names: [String]) -> String {
    guard names.count > 1, let last = names.last else { return names.first ?? "" }
    return "\(names.dropLast().joined(separator: ", ")) or \(last)"
  }
}

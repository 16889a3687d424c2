extension Recipe {
  /// The pipeline of the recipe in words, a line for each stage.
  package var explanation: [String] {
    let formats = ImageFormat.allCases.map(\.displayName)
    let opaque = ImageFormat.allCases.filter { $0.isWritable && !$0.hasAlpha }.map(\.displayName)
    var lines = [
      "decode: a \(Self.alternatives(formats)), row by row; alpha apart",
      "convert to sRGB: only what carries another profile", "turn upright: only what EXIF says must be",
    ]
    for (index, filter) in filters.enumerated() {
      let function = "\(type(of: filter).name)(\(filter.argument))"
      lines.append("filter \(index + 1): \(function), \(type(of: filter).summary)\(filter.stage.window.words)")
    }
    lines.append("lay on white: only what has alpha, and only for \(Self.alternatives(opaque))")
    lines.append("encode: in the format and quality asked for; of metadata what --metadata says")
    if isEmpty {
      lines.append("instead of all this, with the format keep: copy the file, after a look at its header")
    }
    if filters.first?.stage.resampling != nil {
      lines.append("shorter, from JPEG: read at 1/2, 1/4 or 1/8 of its size where the result does not show it")
    }
    return lines + ImagePass.strategies.compactMap { $0.explanation(of: self) }
  }

  /// `A, B or C`
  private static func alternatives(_ names: [String]) -> String {
    guard names.count > 1, let last = names.last else { return names.first ?? "" }
    return "\(names.dropLast().joined(separator: ", ")) or \(last)"
  }
}

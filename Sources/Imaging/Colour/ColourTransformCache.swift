import Synchronization

/// Caches the last used transforms: creating one takes longer than converting a small picture.
final class ColourTransformCache: Sendable {
  /// The cache of all passes.
  static let shared = ColourTransformCache()

  private struct Entry {
    let colour: ColourSpace
    let pixels: ColourTransform.Pixels
    let transform: ColourTransform?
  }

  /// The largest number of transforms; one for CMYK takes a megabyte.
  private static let capacity = 8

  private let entries = Mutex<[Entry]>([])

  /// Returns the transform from a colour space to sRGB; nil when no conversion is needed.
  func transform(from colour: ColourSpace, _ pixels: ColourTransform.Pixels) -> ColourTransform? {
    if colour == .sRGB { return nil }
    let cached = entries.withLock { entries -> Entry? in
      guard let index = entries.firstIndex(where: { $0.pixels == pixels && $0.colour == colour }) else { return nil }
      let entry = entries.remove(at: index)
      entries.append(entry)
      return entry
    }
    if let cached { return cached.transform }
    let transform = ColourTransform.make(from: colour, pixels)
    entries.withLock { entries in
      entries.append(Entry(colour: colour, pixels: pixels, transform: transform))
      if entries.count > Self.capacity { entries.removeFirst() }
    }
    return transform
  }
}

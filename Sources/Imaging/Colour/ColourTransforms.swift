import Synchronization

/// The transforms that were needed last: to make one takes longer than to convert a small picture with it.
final class ColourTransforms: Sendable {
  /// Those of all passes.
  static let shared = ColourTransforms()

  private struct Entry {
    let colour: SourceColour
    let pixels: ColourTransform.Pixels
    let transform: ColourTransform?
  }

  /// Transforms that are kept, at most; one for inks takes a megabyte.
  private static let capacity = 8

  private let entries = Mutex<[Entry]>([])

  /// The transform from a file's colours to sRGB; nil when there is nothing to convert.
  func transform(from colour: SourceColour, _ pixels: ColourTransform.Pixels) -> ColourTransform? {
    if colour == .sRGB { return nil }
    let known = entries.withLock { entries -> Entry? in
      guard let index = entries.firstIndex(where: { $0.pixels == pixels && $0.colour == colour }) else { return nil }
      let entry = entries.remove(at: index)
      entries.append(entry)
      return entry
    }
    if let known { return known.transform }
    let made = ColourTransform.make(from: colour, pixels)
    entries.withLock { entries in
      entries.append(Entry(colour: colour, pixels: pixels, transform: made))
      if entries.count > Self.capacity { entries.removeFirst() }
    }
    return made
  }
}

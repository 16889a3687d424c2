extension ImageFormat {
  /// Whether a file of the format was encoded with a quality, and not losslessly.
  /// - Parameter descriptor: Of the file, which is seekable and stays open; its offset afterwards is undefined.
  package func isLossy(_ descriptor: Int32) -> Bool {
    switch self {
    case .png: return false
    case .webp:
      let container = try? WebPContainer(WebPFile(FileReader(descriptor)), readsMetadata: false)
      return container?.frame.isLossless == false
    default: return true
    }
  }
}

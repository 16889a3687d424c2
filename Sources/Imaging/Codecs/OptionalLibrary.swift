import CGIF
import CHEIF
import CTIFF

/// A library that is loaded by workers, which are few and start beside other work, and by the program only where it encodes AVIF
/// itself (`--isolation none`) and to say what is there: it starts as fast as without, and works without.
package final class OptionalLibrary: Sendable {
  package let name: String
  /// The version that the program was built with; empty when it was built without.
  package let version: String
  /// Debian's package.
  package let package: String
  /// Whether loading takes milliseconds: only workers load it that start after a picture that needs it has come.
  package let isLarge: Bool
  private let load: @Sendable () -> Bool

  private init(
    name: String, version: String, package: String, isLarge: Bool = false, load: @escaping @Sendable () -> Bool
  ) {
    (self.name, self.version, self.package, self.isLarge, self.load) = (name, version, package, isLarge, load)
  }

  /// Whether it is there. Loads it on the first call, which must come before the process is confined.
  package var isLoaded: Bool { load() }

  /// The error of what needs the library where it is missing.
  /// - Parameter use: What it is needed for, as "GIF is decoded".
  func missing(_ use: String) -> ImagingError {
    ImagingError(code: .unsupportedFormat, message: "\(use) with \(name), which is not installed")
  }

  static let giflib = OptionalLibrary(
    name: "giflib", version: String(cString: cgif_version()), package: "libgif7", load: { isGiflibLoaded })

  static let libheif = OptionalLibrary(
    name: "libheif", version: String(cString: cheif_version()), package: "libheif1", isLarge: true,
    load: { isLibheifLoaded })

  static let libtiff = OptionalLibrary(
    name: "libtiff", version: String(cString: ctiff_version()), package: "libtiff6", isLarge: true,
    load: { isLibtiffLoaded })

  private static let isLibtiffLoaded = ctiff_load() == 1
  private static let isLibheifLoaded = cheif_load() == 1
  private static let isGiflibLoaded = cgif_load() == 1
}

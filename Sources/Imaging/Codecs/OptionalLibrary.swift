import CGIF

/// A library that is loaded by workers, which are few and start beside other work, and not by the program: it starts as fast
/// as without, and works without.
package final class OptionalLibrary: Sendable {
  package let name: String
  /// The version that the program was built with; empty when it was built without.
  package let version: String
  /// Debian's package.
  package let package: String
  private let load: @Sendable () -> Bool

  private init(name: String, version: String, package: String, load: @escaping @Sendable () -> Bool) {
    (self.name, self.version, self.package, self.load) = (name, version, package, load)
  }

  /// Whether it is there. Loads it on the first call, which must come before the process is confined.
  package var isLoaded: Bool { load() }

  static let giflib = OptionalLibrary(
    name: "giflib", version: String(cString: cgif_version()), package: "libgif7", load: { isGiflibLoaded })

  private static let isGiflibLoaded = cgif_load() == 1
}

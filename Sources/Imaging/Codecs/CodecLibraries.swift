import CJPEG
import CLCMS
import CPNG
import CWebP

/// The libraries that read and write pictures.
package enum CodecLibraries {
  /// Their names and versions, those of the loaded libraries where they tell them.
  package static var versions: [(name: String, version: String)] {
    [
      ("libjpeg-turbo", number(Int(LIBJPEG_TURBO_VERSION_NUMBER), base: 1000)),
      ("libpng", number(Int(png_access_version_number()), base: 100)),
      ("libwebp", [16, 8, 0].map { "\(WebPGetDecoderVersion() >> $0 & 0xff)" }.joined(separator: ".")),
      ("lcms2", "\(cmsGetEncodedCMMversion() / 1000).\(cmsGetEncodedCMMversion() % 1000 / 10)"),
    ]
  }

  /// Those without which the program works.
  package static var optional: [OptionalLibrary] {
    var libraries: [OptionalLibrary] = []
    for library in ImageFormat.allCases.compactMap(\.library) where !libraries.contains(where: { $0 === library }) {
      libraries.append(library)
    }
    return libraries
  }

  /// A version of three parts from its number.
  private static func number(_ number: Int, base: Int) -> String {
    "\(number / base / base).\(number / base % base).\(number % base)"
  }
}

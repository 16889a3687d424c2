import Imaging
import Testing

@testable import Model

@Suite struct ResultKeyTests {
  /// The settings of the key of an entry's result.
  private func settings(_ format: ImageFormat?, recipe: String = "sepia(1)", _ output: OutputOptions) throws -> String {
    var entry = try Entry.sample(recipe: recipe)
    entry.options.format = format
    return ResultKey(of: "ab", for: entry, output: output).settings
  }

  @Test func `choices are part of the key of results whose bytes depend on them, and of no others`() throws {
    let plain = OutputOptions()
    let chosen = OutputOptions(chroma: .full, jpegCoding: .progressive, pngPalette: .lossless)
    for (format, choices) in [
      (ImageFormat?.none, "/444/progressive/palette"), (.jpeg, "/444/progressive"), (.avif, "/444"), (.png, "/palette"),
      (.webp, ""),
    ] {
      let name = format?.rawValue ?? "keep"
      #expect(try settings(format, plain) == "\(name) 85 copyright sepia(1)")
      #expect(try settings(format, chosen) == "\(name) 85\(choices) copyright sepia(1)")
    }
    #expect(try settings(nil, recipe: "none", chosen) == "copied copyright")
  }
}

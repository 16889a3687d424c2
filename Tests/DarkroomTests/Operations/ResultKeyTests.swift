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

  @Test(arguments: ["sepia(1)", "none"])
  func `a result of a damaged source is reused where damage is accepted, one of an intact source everywhere`(
    recipe: String
  ) throws {
    let entry = try Entry.sample(recipe: recipe)
    let (failing, accepting) = (
      ResultKey(of: "ab", for: entry, output: OutputOptions()),
      ResultKey(of: "ab", for: entry, output: OutputOptions(damaged: .accept))
    )
    #expect(failing == accepting)
    let damaged = accepting.ofDamagedSource
    #expect(damaged.settings == accepting.settings + " damaged" && damaged.text == "ab " + damaged.settings)
    for key in [failing, accepting] { #expect(key.key(ofResult: failing.text) == key) }
    #expect(accepting.key(ofResult: damaged.text) == damaged)
    #expect(failing.key(ofResult: damaged.text) == nil)
    #expect(accepting.key(ofResult: damaged.text + " damaged") == nil && accepting.key(ofResult: "cd") == nil)
  }
}

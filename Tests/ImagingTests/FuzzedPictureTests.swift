import Foundation
import TestSupport
import Testing

@testable import Imaging

/// The corpus of the fuzzers of pictures and recipes, and what they have found.
@Suite struct FuzzedPictureTests {
  private static func files(_ folder: String) -> [String] {
    let path = packageRoot + "/Tests/Fuzz/Corpus/" + folder
    return ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted().map { path + "/" + $0 }
  }

  /// Stages that hold rows and change the size.
  private static let geometry =
    "resize(fill 9 40 enlarge) blur(2px) rotate(90) drop-shadow(1px -3px 1px red) sharpen(1)"

  @Test("every picture of the corpus ends in a picture or in an error of the picture", arguments: files("pictures"))
  func pictures(path: String) throws {
    let fixture = try PassFixture()
    for recipe in ["sepia(0.8)", "invert(1) contrast(2)", "opacity(0.5)", "resize(exact 13 3)", Self.geometry] {
      for format in ImageFormat.allCases where format.isWritable {
        for metadata in MetadataPolicy.allCases {
          let options = OutputOptions(
            format: format, metadata: metadata, damaged: metadata == .copyright ? .fail : .accept)
          do {
            try fixture.pass(path, to: fixture.folder.file("out"), recipe: recipe, options: options)
          } catch let error as ImagingError {
            #expect(error.code != .io && error.code != .cancelled, "\(error)")
          }
        }
      }
    }
  }

  @Test("a copy of a picture of the corpus is copied as a whole", arguments: files("pictures"), MetadataPolicy.allCases)
  func copies(path: String, policy: MetadataPolicy) throws {
    let (source, copy) = (try ScratchFile(), try ScratchFile())
    try source.write(PassFixture.bytes(path))
    guard let copied = try? source.copied(policy) else { return }
    try copy.write(copied.bytes)
    let again = try copy.copied(policy).copy
    #expect(again.isWholeFile)
    #expect(again.info == copied.copy.copiedInfo)
  }

  @Test(
    "every recipe of the corpus is refused, or its canonical text is a recipe and itself", arguments: files("recipes"))
  func recipes(path: String) throws {
    let text = String(decoding: try PassFixture.bytes(path), as: UTF8.self)
    if let recipe = try? Recipe(parsing: text) { #expect(try Recipe(parsing: recipe.description) == recipe) }
  }

  @Test("there is a corpus")
  func corpus() {
    #expect(Self.files("pictures").count > 10)
    #expect(Self.files("recipes").count > 5)
  }
}

import Foundation
import TestSupport
import Testing

@testable import Imaging

/// JPEG to JPEG of every kind, on stored planes where possible: against Pillow's decoding, the formula, and
/// Pillow's encoding.
@Suite struct StoredPlaneTests {
  static let recipes = [
    "sepia(0.8)", "sepia(1)", "sepia(0.4)", "grayscale(1)", "saturate(0.5)", "saturate(3)", "hue-rotate(90deg)",
    "invert(1)", "brightness(1.5)", "contrast(2)", "contrast(2) sepia(0.8) brightness(1.2)", "brightness(9)",
  ]

  /// Arguments of `cjpeg`.
  static let kinds = [
    "-sample 1x1", "-sample 2x1", "-sample 2x2", "-sample 1x2", "-sample 4x1", "-sample 4x2", "-sample 2x2,2x1",
    "-sample 2x1,2x1,2x1", "-sample 2x2 -progressive", "-sample 1x1 -progressive", "-sample 2x2 -arithmetic",
    "-sample 2x2 -restart 1", "-rgb", "-grayscale",
  ]

  /// Width and height.
  private static let sizes = [
    (320, 200), (319, 199), (49, 31), (33, 17), (17, 33), (16, 16), (9, 7), (1, 1), (1025, 17), (2100, 33),
  ]

  @Test("every recipe stays 40 dB from Pillow on photographs", arguments: PassFixture.jpegSamples)
  func photograph(_ sample: String) throws {
    let fixture = try PassFixture()
    let passes = Self.recipes.map { Pass(source: PassFixture.sample(sample), recipe: $0, quality: 85) }
    for (pass, distance) in try zip(passes, fixture.distances(passes)) {
      #expect(distance.fromPillow >= 40, "\(pass.recipe)")
    }
  }

  @Test(
    "photographs of strong colours and clipped highlights stay 40 dB from Pillow where chroma is subsampled",
    arguments: ["coffee.jpg", "rocket.jpg"], [(1.5, 1.0), (1.3, 1.6)])
  func strong(_ sample: String, _ gains: (saturation: Double, exposure: Double)) throws {
    let fixture = try PassFixture()
    let samplings = ["2x1", "2x2", "1x2"]
    _ = try PassFixture.python(
      """
      import subprocess
      pixels = np.asarray(Image.open(sys.argv[1])).astype(float)
      grey = pixels.mean(-1, keepdims=True)
      pixels = (grey + (pixels - grey) * \(gains.saturation)) * \(gains.exposure)
      stored = io.BytesIO()
      Image.fromarray(pixels.clip(0, 255).astype('u1')).save(stored, 'PPM')
      for sampling in \(samplings):
        command = ['cjpeg', '-quality', '92', '-sample', sampling, '-outfile', f'{sys.argv[2]}/{sampling}']
        subprocess.run(command, input=stored.getvalue(), check=True)
      """, [PassFixture.sample(sample), fixture.folder.path])
    let recipes = ["sepia(0.8)", "grayscale(1)", "saturate(0.5)", "brightness(1.5)", "contrast(2)"]
    let passes = samplings.flatMap { sampling in
      recipes.map { Pass(source: fixture.folder.file(sampling), recipe: $0, quality: 85) }
    }
    for (pass, distance) in try zip(passes, fixture.distances(passes)) { #expect(distance.fromPillow >= 40, "\(pass)") }
  }

  /// The colour functions of the goldens, and random chains of them with a fixed seed.
  private static let manyRecipes: [String] = {
    let goldens = (try? PassFixture.bytes(packageRoot + "/Tests/ImagingTests/Goldens/recipes.txt")) ?? []
    let lines = String(decoding: goldens, as: UTF8.self).split(separator: "\n").map(String.init)
    let colours = lines.filter { line in !["blur", "shadow", "opacity"].contains { line.contains($0) } }
    var state: UInt64 = 7
    func chance() -> Double {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Double(state >> 40) / Double(1 << 24)
    }
    let random = (0..<24).map { _ in
      (0...Int(chance() * 2.5)).map { _ in
        let amount = (chance() * 100).rounded() / 100
        return switch Int(chance() * 7) {
        case 0: "grayscale(\(amount))"
        case 1, 2: "sepia(\(amount))"
        case 3: "saturate(\(amount))"
        case 4: "brightness(\(0.5 + amount))"
        case 5: "contrast(\(0.5 + amount))"
        default: "invert(\(amount))"
        }
      }.joined(separator: " ")
    }
    return colours + random
  }()

  /// The saturation of a photograph, its coding, and the least PSNR of results.
  struct Exaggeration {
    let saturation: Double
    let subsampling: Int
    let decibels: Double
  }

  private static let exaggerations = [
    Exaggeration(saturation: 1, subsampling: 2, decibels: 40),
    Exaggeration(saturation: 3, subsampling: 2, decibels: 39),
    Exaggeration(saturation: 1, subsampling: 0, decibels: 38.5),
    Exaggeration(saturation: 3, subsampling: 0, decibels: 38.5),
  ]
  private static let photographs = ["astronaut.jpg", "chelsea.jpg", "coffee.jpg", "rocket.jpg"]

  /// Each recipe is tried once with each photograph and once with each exaggeration: with four of the sixteen pairs.
  @Test(
    "any recipe comes as near to the formula as Pillow does, and as near to Pillow as encoders' rounding lets it",
    arguments: photographs.indices, exaggerations.indices)
  func anyRecipe(_ photograph: Int, _ number: Int) throws {
    let (sample, exaggeration) = (Self.photographs[photograph], Self.exaggerations[number])
    let recipes = Self.manyRecipes.enumerated().filter { ($0.offset + photograph + number) % 4 == 0 }.map(\.element)
    let fixture = try PassFixture()
    let source = fixture.folder.file("source.jpg")
    _ = try PassFixture.python(
      """
      pixels = np.asarray(Image.open(sys.argv[1])).astype(float)
      grey = pixels.mean(-1, keepdims=True)
      pixels = grey + (pixels - grey) * \(exaggeration.saturation)
      pixels = pixels.clip(0, 255).astype('u1')
      Image.fromarray(pixels).save(sys.argv[2], quality=92, subsampling=\(exaggeration.subsampling))
      """, [PassFixture.sample(sample), source])
    let passes = recipes.map { Pass(source: source, recipe: $0, quality: 85) }
    for (pass, distance) in try zip(passes, fixture.distances(passes)) {
      #expect(distance.fromPillow >= exaggeration.decibels, "\(sample), \(exaggeration): \(pass.recipe)")
      #expect(distance.fromFormula >= distance.pillowFromFormula - 0.3, "\(sample), \(exaggeration): \(pass.recipe)")
    }
  }

  /// With only a few blocks the encoder's rounding alone costs a few decibels.
  @Test("every sampling stays 40 dB from Pillow at any size, 36 dB when there are only a few blocks", arguments: kinds)
  func storedKind(_ kind: String) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      """
      import subprocess
      for width, height in \(Self.sizes.map { [$0.0, $0.1] }):
        picture = Image.open('\(PassFixture.sample("chelsea.jpg"))').resize((width, height), Image.BICUBIC)
        stored = io.BytesIO()
        picture.save(stored, 'PPM')
        name = f'{sys.argv[1]}/{width}x{height}.jpg'
        command = ['cjpeg', '-quality', '92', *'\(kind)'.split(), '-outfile', name]
        subprocess.run(command, input=stored.getvalue(), check=True)
      """, [fixture.folder.path])
    let passes = Self.sizes.flatMap { width, height in
      [("sepia(0.8)", 85), ("sepia(0.8)", 95), ("brightness(1.3) sepia(0.9)", 85)].map {
        Pass(source: fixture.folder.file("\(width)x\(height).jpg"), recipe: $0.0, quality: $0.1)
      }
    }
    for (pass, distance) in try zip(passes, fixture.distances(passes)) {
      let isLarge = pass.source.contains("x200") || pass.source.contains("x199")
      #expect(distance.fromPillow >= (isLarge ? 40 : 36), "\(pass)")
    }
  }
}

private struct Pass {
  let source: String
  let recipe: String
  let quality: Int
}

/// PSNR in dB: of a pass to Pillow's result for the same file, and of both to the formula's unrounded result.
private struct Distance {
  let fromPillow, fromFormula, pillowFromFormula: Double
}

extension PassFixture {
  fileprivate func distances(_ passes: [Pass]) throws -> [Distance] {
    var arguments: [String] = []
    for (index, pass) in passes.enumerated() {
      let result = folder.file("out\(index).jpg")
      try self.pass(pass.source, to: result, recipe: pass.recipe, options: OutputOptions(quality: pass.quality))
      arguments += [pass.source, result, pass.recipe, "\(pass.quality)"]
    }
    let printed = try Self.python(
      """
      from PIL import JpegImagePlugin as J
      for at in range(1, len(sys.argv), 4):
        source, result, recipe, quality = sys.argv[at:at + 4]
        pixels = np.asarray(Image.open(source).convert('RGB')).astype(float) / 255
        exact = css(recipe, pixels) * 255
        expected = Image.fromarray(np.floor(exact + .5).astype('u1'), 'RGB')
        result = Image.open(result)
        if result.mode == 'L': expected = expected.convert('L')
        assert expected.size == result.size
        sampling = max(J.get_sampling(result), 0)
        assert result.mode == 'L' or int(quality) >= 90 or sampling == 2
        stored = io.BytesIO()
        expected.save(stored, 'JPEG', quality=int(quality), subsampling=sampling)
        theirs, ours = Image.open(stored).convert('RGB'), result.convert('RGB')
        print(psnr(theirs, ours), psnr(exact, ours), psnr(exact, theirs))
      """, arguments)
    return try printed.split(separator: "\n").map { line in
      let numbers = line.split(separator: " ").compactMap { Double($0) }
      try #require(numbers.count == 3)
      return Distance(fromPillow: numbers[0], fromFormula: numbers[1], pillowFromFormula: numbers[2])
    }
  }
}

import Foundation
import TestSupport

@testable import Imaging

/// Runs passes over files of a temporary folder.
struct PassFixture {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The pictures of `Samples`, by name.
  static let jpegSamples = ["astronaut.jpg", "chelsea.jpg", "coffee.jpg", "hubble-deep-field.jpg", "rocket.jpg"]

  /// The path of a sample.
  static func sample(_ name: String) -> String { packageRoot + "/Samples/" + name }

  /// Writes bytes into the folder and returns the path.
  func write(_ bytes: some Sequence<UInt8>, as name: String = "source") throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: folder.file(name)))
    return folder.file(name)
  }

  /// One pass from file to file.
  @discardableResult
  func pass(
    _ source: String, to destination: String, recipe: String = "none", options: OutputOptions = OutputOptions(),
    limits: ImageLimits = .confined, previewThreshold: Int = .max, isCancelled: () -> Bool = { false }
  ) throws -> ImagePassResult {
    let (input, output) = (open(source, O_RDONLY), open(destination, O_RDWR | O_CREAT | O_TRUNC, 0o600))
    defer {
      close(input)
      close(output)
    }
    let pass = ImagePass(
      recipe: try Recipe(parsing: recipe), options: options, limits: limits, previewThreshold: previewThreshold)
    return try pass.run(from: input, to: output, isCancelled: isCancelled)
  }

  /// One pass over bytes; the code of its failure, nil when it succeeded.
  func code(of bytes: some Sequence<UInt8>, recipe: String = "sepia(0.8)", limits: ImageLimits = .confined) throws
    -> ImagingError.Code?
  {
    try error(of: bytes, recipe: recipe, limits: limits)?.code
  }

  /// One pass over bytes; its failure, nil when it succeeded.
  func error(of bytes: some Sequence<UInt8>, recipe: String = "sepia(0.8)", limits: ImageLimits = .confined) throws
    -> ImagingError?
  {
    let source = try write(bytes)
    do {
      try pass(source, to: folder.file("result"), recipe: recipe, limits: limits)
      return nil
    } catch let error as ImagingError {
      return error
    }
  }

  /// The bytes of a file.
  static func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

  /// What a script of `Reference` prints, as text without the last newline.
  static func python(_ script: String, _ arguments: [String] = []) throws -> String {
    let printed = try TestPython.run(Reference.prelude + script, arguments)
    return String(decoding: printed, as: UTF8.self).trimmingCharacters(in: .newlines)
  }
}

extension ImageLimits {
  /// The default limits of a worker, in which all formats are decoded.
  static var confined: ImageLimits {
    var limits = ImageLimits()
    limits.isConfined = true
    return limits
  }
}

import Imaging
import System

extension DecodingWorker {
  /// Converts a picture of our own to every format once. What the libraries and the runtime of Swift set up with the first
  /// picture is set up for all workers then. It is no error when that fails.
  static func prepare() {
    let memory = WholePictureMemory(limit: 1 << 20)
    guard let recipe = try? Recipe(parsing: "sepia(0.8)"), var source = try? OpenFile(inMemory: "pixel"),
      (try? pixel.withUnsafeBytes({ try source.write($0) })) != nil
    else { return }
    for format in ImageFormat.allCases where format.isWritable {
      guard let result = try? OpenFile(inMemory: "pixel") else { return }
      let task = DecodingTask(recipe, OutputOptions(format: format), limits: ImageLimits(maxPixels: 1))
      _ = try? task.perform(from: source.descriptor, to: result.descriptor, memory: memory) { _ in }
      source = result
    }
  }

  /// A PNG of one pixel.
  private static let pixel: [UInt8] = [
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
    0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53, 0xDE, 0x00, 0x00, 0x00,
    0x0C, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0x68, 0x68, 0x68, 0x00, 0x00, 0x03, 0x04, 0x01, 0x81, 0x4B,
    0xD3, 0xD2, 0x10, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
  ]
}

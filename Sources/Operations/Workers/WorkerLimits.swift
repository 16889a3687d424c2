import Sandbox

/// The limits of a worker for one task.
package struct WorkerLimits: Sendable, Equatable {
  /// Seconds of processor time for a picture of any size. Default: 30.
  package var baseTime = 30.0

  /// Additional seconds of processor time per megapixel. Default: 2.
  package var timePerMegapixel = 2.0

  /// The limit of wall-clock time, as a multiple of processor time. Default: 10.
  package var wallFactor = 10.0

  /// Seconds that a worker may be inactive, plus `wallFactor` times the processor time that it has used. Default: 60.
  package var idleTime = 60.0

  /// The memory of whole pictures, and of each worker besides.
  package var memory: MemoryBudget

  package init(memory: MemoryBudget) { self.memory = memory }

  /// Seconds of processor time for a picture.
  func time(pixels: Int) -> Double { baseTime + timePerMegapixel * Double(pixels) / 1e6 }

  /// The limits that the kernel enforces for a worker.
  /// - Parameter maxPixels: The most pixels of a result, which takes up to eight bytes each, uncompressed.
  func process(maxPixels: Int) -> ProcessLimits {
    // A number that means "no limit" must not overflow.
    let pixels = min(maxPixels, 1 << 40)
    return ProcessLimits(
      memory: memory.perWorker, extraMemory: memory.shared, fileSize: 8 * pixels + (64 << 20),
      processorTime: Int(time(pixels: pixels)) * 2 + 60)
  }
}

extension ProcessLimits {
  var arguments: [String] { [memory, extraMemory, fileSize, processorTime].map(String.init) }

  /// - Returns: nil when the arguments are invalid.
  init?(arguments: [String]) {
    let numbers = arguments.compactMap(Int.init)
    guard arguments.count == 4, numbers.count == 4, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
    self.init(memory: numbers[0], extraMemory: numbers[1], fileSize: numbers[2], processorTime: numbers[3])
  }
}

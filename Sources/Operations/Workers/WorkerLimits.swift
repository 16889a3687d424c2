import Imaging
import Sandbox

/// What a worker may use for one task.
package struct WorkerLimits: Sendable, Equatable {
  /// Seconds of processor time for every picture. Default: 30.
  package var baseTime = 30.0

  /// Seconds of processor time more for each megapixel. Default: 2.
  package var timePerMegapixel = 2.0

  /// How many times as long the clock on the wall may run. Default: 10.
  package var wallFactor = 10.0

  /// Seconds that a worker may do nothing, beside `wallFactor` times the processor time that it has used. Default: 60.
  package var idleTime = 60.0

  /// Memory of whole pictures, and of each worker besides.
  package var memory: MemoryBudget

  package init(memory: MemoryBudget) { self.memory = memory }

  /// Seconds of processor time for a picture.
  func time(pixels: Int) -> Double { baseTime + timePerMegapixel * Double(pixels) / 1e6 }

  /// What the kernel holds a worker to.
  /// - Parameter maxPixels: Of a result: eight bytes each, when nothing compresses it.
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

  /// - Returns: nil when they are no limits.
  init?(arguments: [String]) {
    let numbers = arguments.compactMap(Int.init)
    guard arguments.count == 4, numbers.count == 4, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
    self.init(memory: numbers[0], extraMemory: numbers[1], fileSize: numbers[2], processorTime: numbers[3])
  }
}

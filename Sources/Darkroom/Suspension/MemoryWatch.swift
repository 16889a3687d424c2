import Sandbox
import System

/// Reads how much memory there is, every second while jobs are live. It belongs to the thread of `Darkroom`.
struct MemoryWatch {
  private(set) var pressure = MemoryPressure()
  private let read: () -> MemoryReading

  /// When it reads again, as `Clock.monotonicMilliseconds`; nil while no job is live.
  private(set) var due: Int?

  /// How far readings are apart, in milliseconds.
  static let interval = 1000

  /// - Parameters:
  ///   - patience: How long nothing goes on while memory is scarce, in seconds.
  ///   - read: Returns what the kernel says.
  init(patience: Double = 60, read: @escaping () -> MemoryReading) {
    self.read = read
    pressure.patience = Int(patience * 1000)
  }

  /// Reads when that is due.
  /// - Parameter isWorking: Whether jobs are live. Without any there is nothing to hold.
  mutating func check(isWorking: Bool, now: Int) {
    guard isWorking else {
      if due != nil { pressure.update(MemoryReading(), now: now) }
      due = nil
      return
    }
    guard due.map({ $0 <= now }) ?? true else { return }
    due = now + min(Self.interval, max(20, pressure.patience / 4))
    pressure.update(read(), now: now)
  }
}

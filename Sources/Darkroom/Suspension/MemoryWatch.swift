import Sandbox
import System

/// Reads how much memory there is, every second while jobs are live. It belongs to the thread of `Darkroom`.
struct MemoryWatch {
  private(set) var pressure = MemoryPressure() {
    didSet { if isScarce != (oldValue.since != nil) { needsScan = true } }
  }

  /// Whether memory is scarce, whether or not the queues are suspended already.
  var isScarce: Bool { pressure.since != nil }

  /// Whether memory has become scarce or sufficient since the causes of pauses were checked.
  var needsScan = false
  private let read: () -> MemoryReading

  /// When it reads again, as `Clock.monotonicMilliseconds`; nil while no job is live.
  private(set) var due: Int?

  /// The interval of readings, in milliseconds.
  static let interval = 1000

  /// - Parameters:
  ///   - fullPauseTime: How long nothing starts while memory is scarce, in seconds.
  ///   - read: Returns what the kernel says.
  init(fullPauseTime: Double = 60, read: @escaping () -> MemoryReading) {
    self.read = read
    pressure.fullPauseTime = Int(fullPauseTime * 1000)
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
    due = now + min(Self.interval, max(20, pressure.fullPauseTime / 4))
    pressure.update(read(), now: now)
  }
}

/// Decides, from readings in their order, whether memory is so scarce that the queues are suspended. PSI is read, not awaited
/// by a trigger, which needs rights that containers often lack.
struct MemoryPressure: Sendable, Equatable {
  /// Memory is scarce when tasks wait for it for a larger share of the time, in percent…
  static let begins = 10.0

  /// …until they do so for a smaller one.
  static let ends = 5.0

  /// Memory is scarce when a control group uses this share of its limit, in percent.
  static let fullness = 95.0

  /// How long nothing starts, in milliseconds: another program may be short of memory, and stay so.
  var fullPauseTime = 60_000

  /// Since when memory is scarce, in milliseconds; nil while there is enough.
  private(set) var since: Int?

  /// What was short when it began to be scarce.
  private var what = ""
  private var isPressed = false

  /// Updates the state with a reading.
  /// - Parameter now: In milliseconds, of a clock that does not jump.
  mutating func update(_ reading: MemoryReading, now: Int) {
    isPressed = reading.pressure.map { $0 > Self.begins || isPressed && $0 >= Self.ends } ?? false
    let full = reading.groups.first { Double($0.used) * 100 >= Double($0.limit) * Self.fullness }
    guard isPressed || full != nil else { return since = nil }
    guard since == nil else { return }
    since = now
    what =
      full.map { "\(ByteCount($0.used)) of the \(ByteCount($0.limit)) of a control group are in use" }
      ?? "programs wait for memory \(Int((reading.pressure ?? 0).rounded())) % of the time"
  }

  /// Whether one operation at a time goes on, although memory is scarce.
  func allowsOne(now: Int) -> Bool { since.map { now - $0 >= fullPauseTime } ?? false }

  /// Why the queues are suspended; nil while there is enough memory.
  func reason(now: Int) -> String? {
    guard since != nil else { return nil }
    return what + (allowsOne(now: now) ? "; one operation at a time goes on" : "")
  }
}

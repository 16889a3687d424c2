import Sandbox
import Testing

@testable import Darkroom

@Suite struct MemoryPressureTests {
  /// Whether memory is scarce after each of some readings, a second apart.
  private func scarce(_ readings: [MemoryReading]) -> [Bool] {
    var pressure = MemoryPressure()
    return readings.enumerated().map { second, reading in
      pressure.update(reading, now: second * 1000)
      return pressure.since != nil
    }
  }

  @Test func `tasks that wait for memory suspend above 10 percent, until they do so for less than 5`() {
    let percents = [0, 10, 10.01, 10, 7, 5, 4.99, 7, 10, 30, 0]
    #expect(
      scarce(percents.map { MemoryReading(pressure: $0) })
        == [false, false, true, true, true, true, false, false, false, true, false])
  }

  @Test func `a control group suspends from 95 percent of its limit on, any of those above it, too`() {
    let small = MemoryReading.Group(limit: 1000, used: 0)
    let used = [949, 950, 1000, 949].map { MemoryReading.Group(limit: 1000, used: $0) }
    #expect(scarce(used.map { MemoryReading(groups: [small, $0]) }) == [false, true, true, false])
  }

  @Test func `each of both keeps the queues suspended`() {
    let full = [MemoryReading.Group(limit: 100, used: 99)]
    #expect(
      scarce([
        MemoryReading(pressure: 50), MemoryReading(pressure: 50, groups: full),
        MemoryReading(pressure: 1, groups: full),
        MemoryReading(pressure: 6), MemoryReading(pressure: 6),
      ]) == [true, true, true, false, false])
  }

  @Test func `where the kernel says nothing there is enough`() {
    #expect(scarce([MemoryReading(), MemoryReading(pressure: 90), MemoryReading()]) == [false, true, false])
  }

  @Test func `after a minute of it one operation at a time goes on, and each time anew`() {
    var pressure = MemoryPressure()
    let (scarce, enough) = (MemoryReading(pressure: 20), MemoryReading(pressure: 0))
    #expect(!pressure.allowsOne(now: 100_000))
    pressure.update(scarce, now: 1000)
    pressure.update(scarce, now: 60_999)
    #expect(!pressure.allowsOne(now: 60_999))
    #expect(pressure.reason(now: 60_999) == "programs wait for memory 20 % of the time")
    #expect(pressure.allowsOne(now: 61_000))
    #expect(pressure.reason(now: 61_000)?.hasSuffix("; one operation at a time goes on") == true)
    pressure.update(enough, now: 62_000)
    #expect(!pressure.allowsOne(now: 62_000) && pressure.reason(now: 62_000) == nil)
    pressure.update(scarce, now: 63_000)
    #expect(!pressure.allowsOne(now: 63_000))
  }

  @Test func `the reason stays while the numbers change, so that a pause has one`() {
    var pressure = MemoryPressure()
    pressure.update(MemoryReading(groups: [.init(limit: 1 << 30, used: 1 << 30)]), now: 0)
    let reason = pressure.reason(now: 0)
    #expect(reason?.contains("control group") == true)
    pressure.update(MemoryReading(pressure: 30, groups: [.init(limit: 1 << 30, used: 1 << 30 - 5)]), now: 1000)
    #expect(pressure.reason(now: 1000) == reason)
  }

  @Test func `memory is read while jobs are live only, and no more often than every second`() {
    var readings = 0
    var watch = MemoryWatch {
      readings += 1
      return MemoryReading(pressure: 50)
    }
    for now in [0, 10, 999] { watch.check(isWorking: true, now: now) }
    #expect(readings == 1 && watch.pressure.since == 0 && watch.needsScan)
    watch.needsScan = false
    watch.check(isWorking: true, now: 1000)
    #expect(readings == 2 && !watch.needsScan)
    watch.check(isWorking: false, now: 5000)
    #expect(readings == 2 && watch.pressure.since == nil && watch.due == nil && watch.needsScan)
  }
}

import Scheduling
import Testing

@Suite struct MissingFilesTests {
  @Test func `a file is removed after two scans without it, and no sooner than it would settle`() {
    var files = MissingFiles()
    #expect(files.update([1], now: 0, time: 0) == [], "one scan is none")
    #expect(files.update([1, 2], now: 0.1, time: 0) == [1])
    #expect(files.update([1, 2], now: 1.9, time: 2) == [])
    #expect(files.update([1, 2], now: 2, time: 2) == [1])
    #expect(files.update([1, 2], now: 2.1, time: 2) == [1, 2])
  }

  @Test func `a file that is back, and a scan that fails, begin it anew`() {
    var files = MissingFiles()
    _ = files.update([1], now: 0, time: 1)
    #expect(files.update([], now: 1, time: 1) == [] && files.isEmpty)
    #expect(files.update([1], now: 2, time: 1) == [] && !files.isEmpty)
    files.scanFailed()
    #expect(files.update([1], now: 9, time: 1) == [])
    #expect(files.update([1], now: 10, time: 1) == [1])
  }

  @Test(arguments: [(0.0, 0.1), (2, 2)])
  func `the next scan is due when the first of them would count as removed`(time: Double, wait: Double) {
    var files = MissingFiles()
    #expect(files.due == nil)
    _ = files.update([1], now: 10, time: time)
    #expect(files.due == 10 + wait)
    _ = files.update([1, 2], now: 10 + wait / 2, time: 2)
    #expect(files.due == 12)
    #expect(files.update([1, 2], now: 12, time: 2) == [1])
    #expect(files.due == 12 + wait / 2)
    _ = files.update([], now: 13, time: time)
    #expect(files.due == nil)
    _ = files.update([3], now: 14, time: time)
    files.scanFailed()
    #expect(files.due == nil)
  }
}

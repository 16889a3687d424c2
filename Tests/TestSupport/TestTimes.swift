import Foundation
import Testing

/// What tests take, if `DARKROOM_TEST_TIMES` names a file for it: a line each, appended.
enum TestTimes {
  private static let file = ProcessInfo.processInfo.environment["DARKROOM_TEST_TIMES"].map {
    open($0, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
  }

  /// The test that runs.
  static var current: String { Test.current.map { "\($0.sourceLocation.fileID): \($0.name)" } ?? "?" }

  /// Records how long a test took. What the test run itself prints has the time in it that tests have waited for a thread.
  static func record(wall seconds: Double, of test: String) { write("test \(seconds) of \(test)") }

  /// Records the processor time of a process that a test has started, and of the children that it has waited for.
  static func record(processor seconds: Double, _ words: [String], of test: String) {
    write("process \(seconds) \(words) of \(test)")
  }

  private static func write(_ line: String) {
    guard let file else { return }
    let bytes = Array((line + "\n").utf8)
    _ = Glibc.write(file, bytes, bytes.count)
  }
}

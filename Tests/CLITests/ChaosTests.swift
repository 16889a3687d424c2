import Foundation
import TestSupport
import Testing

/// A sample of `script/chaos`, which kills the program at a call that changes a file, or has the call fail, starts it again
/// and checks everything.
@Suite(.blocking, .disabled(if: Sanitizer.isAny, "a sanitizer's library must be loaded first")) struct ChaosTests {
  /// A kind of fault, how many calls it happens at, evenly spread over the run, and which; empty: all that can end so.
  /// An error is here for the calls after which all goes on as it should, whichever it is.
  static let samples = [
    ("kill", 70, ""), ("torn", 30, ""), ("double", 50, ""), ("ENOSPC", 30, waitForSpace), ("EDQUOT", 20, waitForSpace),
  ]

  private static let waitForSpace = "open write mkdir link fsync"

  @Test(arguments: samples)
  func `three live jobs end as they should, whatever call they were killed at or had fail`(
    kind: String, count: Int, calls: String
  ) throws {
    let folders = try DarkroomFolders()
    let finished = try DarkroomProcess.run(
      script: """
        '\(TestPython.interpreter)' '\(packageRoot)/script/chaos' --jobs 1 --sample \(count) \
          --calls '\(calls)' --verbose --program "$(command -v darkroom)" \(kind)
        """, in: folders.folder)
    #expect(finished.status == 0, "\(finished.output)\(finished.error)")
  }
}

import Foundation
import TestSupport
import Testing

/// A few trials of `script/chaos`, which kills the program at a call that changes a file, or has the call fail, starts it again
/// and checks everything.
@Suite(.blocking, .disabled(if: Sanitizer.isAny, "a sanitizer's library must be loaded first")) struct ChaosTests {
  /// A kind of fault, and how many calls it happens at, evenly spread over the run. `script/test-system` tries all kinds.
  static let samples = [("kill", 6), ("EIO", 4), ("EMFILE", 3), ("EINTR", 2), ("EDQUOT", 2)]

  @Test(arguments: samples)
  func `three live jobs end as they should, whatever call they were killed at or had fail`(
    kind: String, count: Int
  ) throws {
    let folders = try DarkroomFolders()
    let finished = try DarkroomProcess.run(
      script: """
        '\(TestPython.interpreter)' '\(packageRoot)/script/chaos' --jobs 1 --sample \(count) \
          --verbose --program "$(command -v darkroom)" \(kind)
        """, in: folders.folder)
    #expect(finished.status == 0, "\(finished.output)\(finished.error)")
  }
}

import Foundation
import TestSupport
import Testing

/// Expects that a file of the package holds a text. With `DARKROOM_TEST_RECORD` in the environment the file is written
/// first; look at the difference before you commit it.
func expectRecorded(_ text: String, at path: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
  if ProcessInfo.processInfo.environment["DARKROOM_TEST_RECORD"] != nil {
    try text.write(toFile: path, atomically: true, encoding: .utf8)
  }
  if try String(contentsOfFile: path, encoding: .utf8) == text { return }
  let folder = try TemporaryFolder()
  try text.write(toFile: folder.file("expected"), atomically: true, encoding: .utf8)
  let difference = try DarkroomProcess.run(
    script: "diff -u --label recorded --label expected '\(path)' expected", in: folder)
  #expect(difference.status == 0, "\(difference.output)\(difference.error)", sourceLocation: sourceLocation)
}

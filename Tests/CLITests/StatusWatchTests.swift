import Foundation
import TestSupport
import Testing

/// `darkroom status --watch` for programs.
@Suite(.blocking) struct StatusWatchTests {
  @Test func `elsewhere than on a terminal the status is printed each time it changes, until its reader has gone`()
    throws
  {
    let folders = try DarkroomFolders()
    let words = (["status", "--watch", "--json"] + folders.named).map { "'\($0)'" }.joined(separator: " ")
    // Ends with its reader, which has what it wants; nothing is printed after that.
    let run = try DarkroomProcess.run(
      script: """
        darkroom \(words) | {
          read -r line; echo "$line"
          touch inbox/x.lock
          read -r line; echo "$line"
        }
        """, in: folders.folder)
    let lines = run.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 2 && run.error.isEmpty, "\(run)")
    for line in lines {
      #expect(try JSONSchema.violations(of: Data(line.utf8), name: "status.schema.json") == "")
    }
    #expect(lines.first?.contains("x.lock") == false && lines.dropFirst().first?.contains("x.lock") == true, "\(lines)")
  }

  @Test func `of people's lines each change is a paragraph`() throws {
    let folders = try DarkroomFolders()
    let words = (["status", "--watch"] + folders.named).map { "'\($0)'" }.joined(separator: " ")
    let run = try DarkroomProcess.run(script: "darkroom \(words) | head -n 4", in: folders.folder)
    #expect(run.output == "\(folders.inbox) → \(folders.outbox)\nno process is running\nnothing to do\n\n")
  }
}

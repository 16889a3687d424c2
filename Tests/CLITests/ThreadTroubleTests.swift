import Foundation
import TestSupport
import Testing

/// Threads that the system does not create.
@Suite(.blocking) struct ThreadTroubleTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  @Test(arguments: ["run", "watch"])
  func `without a thread that waits for signals a command ends at once, and says why`(command: String) throws {
    try folders.drop("job.txt", "coffee.jpg\n")
    let ended = try DarkroomProcess.run(
      script:
        "exec strace -qq -o /dev/null -e trace=clone3 -e inject=clone3:error=EAGAIN:when=1 \(folders.line(command))",
      in: folders.folder)
    #expect(ended.status == 73 && ended.error.contains("the thread that waits for signals: "), "\(ended)")
    #expect(try folders.inboxNames() == ["job.txt"])
  }
}

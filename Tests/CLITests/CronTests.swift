import TestSupport
import Testing

/// What cron mails is what stands on standard error of `run --quiet`.
@Suite struct CronTests {
  @Test(arguments: [("coffee.jpg\n", ""), ("missing.jpg\n", "job: failed: 0 filtered, 1 failed")])
  func `only what is wrong is told`(manifest: String, expected: String) throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", manifest)
    let run = try folders.run(["--quiet", "--filters", "none"])
    #expect(expected.isEmpty || run.error.contains(expected), "\(run.error)")
    #expect(run.error.isEmpty == expected.isEmpty, "\(run.error)")
  }
}

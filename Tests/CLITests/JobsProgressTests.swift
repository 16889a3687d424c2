import Testing

@testable import DarkroomCLI

/// What the progress line says of the live jobs.
@Suite struct JobsProgressTests {
  @Test func `one job has its name and its numbers`() {
    var progress = JobsProgress()
    #expect(progress.text == nil)
    progress.start("a", total: 4, ended: 1, deferred: 0)
    #expect(progress.text == "a: 1/4 (25 %)")
    progress.pause = "deploy.lock"
    #expect(progress.text == "a: 1/4 (25 %), paused: deploy.lock")
    progress.end("a")
    #expect(progress.text == nil)
  }

  @Test func `several jobs are added up, and a name never stands beside the numbers of others`() {
    var progress = JobsProgress()
    progress.start("a", total: 4, ended: 4, deferred: 0)
    progress.start("b", total: 4, ended: 0, deferred: 0)
    #expect(progress.text == "2 jobs: 4/8 (50 %)")
    progress.end("a")
    #expect(progress.text == "jobs: 4/8 (50 %)")
    progress.end("b")
    progress.start("c", total: 2, ended: 0, deferred: 0)
    #expect(progress.text == "c: 0/2 (0 %)", "when no job was live it begins anew")
  }
}

import Testing

@testable import Darkroom
@testable import Model

@Suite struct DescriptorLimitTests {
  @Test(arguments: [
    (64, 17, 4, 4), (256, 16, 16, 16), (1024, 1000, 64, 64), (20_000, 1000, 1000, 1024), (15, 1, 1, 1),
  ])
  func `no more jobs and filtrations run than the descriptors suffice for, and a warning says so`(
    descriptors: Int, asked: Int, allowed: Int, live: Int
  ) throws {
    var configuration = try Configuration(filters: .init(parsing: "none"), processors: 1)
    (configuration.jobs, configuration.filtrations) = (asked, asked)
    let warnings = configuration.limit(byDescriptors: descriptors)
    #expect(configuration.jobs == allowed && configuration.filtrations == allowed)
    let limits = JobLimits(configuration, descriptors: descriptors)
    #expect(limits == JobLimits(slots: allowed, live: live, total: 4 * live))
    let end =
      " is lowered from \(asked) to \(allowed): at most \(descriptors) files may be open (ulimit -Hn, LimitNOFILE)"
    #expect(warnings == (asked == allowed ? [] : ["--jobs" + end, "--filtrations" + end]))
    let again = configuration.limit(byDescriptors: descriptors)
    #expect(again.isEmpty)
  }

  @Test func `a default is lowered without a warning`() throws {
    var configuration = try Configuration(filters: .init(parsing: "none"), processors: 128)
    #expect(configuration.limit(byDescriptors: 64) == [])
    #expect(configuration.jobs == 4 && configuration.filtrations == 4)
  }
}

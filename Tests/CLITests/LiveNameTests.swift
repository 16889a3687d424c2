import Foundation
import TestSupport
import Testing

/// Derived names of a job that does not simply end: it is replaced, cancelled, or killed.
@Suite(.blocking) struct LiveNameTests {
  private let folders: DarkroomFolders
  private let server: GatedServer

  init() throws {
    folders = try DarkroomFolders()
    server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
  }

  private static let two = ["--downloads", "2", "--filters", "none", "--verbose", "--cache-size", "0"]

  /// Lines whose names are all derived from the same.
  private func manifest(_ entries: some Sequence<Int>) -> String {
    entries.map { server.url("\($0)/a.jpg") + "\n" }.joined()
  }

  private func requests(_ count: Int) throws -> [String] { try (0..<count).map { _ in try server.nextRequest() } }

  /// The names of the rows of the last report, by what they ask for.
  private func names() throws -> [Int: String] {
    let rows = try folders.report("job").entries
    let named = rows.compactMap { row in
      row.url.split(separator: "/").dropLast().last.flatMap { Int($0) }.map { ($0, row) }
    }
    for (_, row) in named { if let file = row.output?.file { #expect(file == "images/\(row.name).jpg") } }
    return Dictionary(uniqueKeysWithValues: named.map { ($0, $1.name) })
  }

  private func end(_ process: DarkroomProcess) throws {
    try process.stop()
    try folders.checkOutbox()
  }

  /// Starts a job whose first entry ends while the next two are in progress.
  private func start(_ command: String, _ manifest: String) throws -> DarkroomProcess {
    try folders.drop("job.txt", manifest)
    let process = try folders.start(command, Self.two)
    #expect(Set(try requests(2)) == ["/0/a.jpg", "/1/a.jpg"])
    try server.release(1)
    #expect(try process.waitForLine(containing: ": filtered") != nil)
    #expect(try requests(1) == ["/2/a.jpg"])
    return process
  }

  private static let first = [0: "a", 1: "a-2", 2: "a-3", 3: "a-4", 4: "a-5", 5: "a-6"]

  @Test func `in a manifest that replaces another every request keeps its name, whatever is put in front of it`() throws
  {
    let watch = try start("watch", manifest(0..<6))
    try folders.drop("job.txt", manifest([8, 9, 5, 2, 1, 0]))
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    try server.release(40)
    #expect(try watch.waitForLine(containing: "job: succeeded: 6 filtered") != nil)
    try end(watch)
    #expect(try server.requestsSoFar().sorted() == ["/5/a.jpg", "/8/a.jpg", "/9/a.jpg"], "nothing twice")
    #expect(try names() == [0: "a", 1: "a-2", 2: "a-3", 5: "a-6", 8: "a-4", 9: "a-5"])
  }

  @Test func `what was cancelled keeps its name, begun or not`() throws {
    let watch = try start("watch", manifest(0..<6))
    try FileManager.default.removeItem(atPath: folders.inbox + "/job.txt")
    #expect(try watch.waitForLine(containing: "job: cancelled: 1 filtered") != nil)
    #expect(try names() == Self.first)
    try server.release(40)
    try folders.drop("job.txt", manifest([9, 5, 4, 3, 2, 1, 0]))
    #expect(try watch.waitForLine(containing: "job: succeeded: 7 filtered") != nil)
    try end(watch)
    #expect(try names() == Self.first.merging([9: "a-7"]) { $1 })
  }

  @Test func `names stay also of a job that is cancelled while it waits for a place`() throws {
    try folders.drop("other.txt", server.url("other"))
    let watch = try folders.start("watch", Self.two + ["--jobs", "1"])
    #expect(try requests(1) == ["/other"])
    try folders.drop("job.txt", manifest(0..<3))
    #expect(try watch.waitForLine(containing: "job: planning job.txt") != nil)
    try FileManager.default.removeItem(atPath: folders.inbox + "/job.txt")
    #expect(try watch.waitForLine(containing: "job: cancelled: 0 filtered") != nil)
    try server.release(40)
    try folders.drop("job.txt", manifest([9, 2, 1, 0]))
    #expect(try watch.waitForLine(containing: "job: succeeded: 4 filtered") != nil)
    try end(watch)
    #expect(try names() == [0: "a", 1: "a-2", 2: "a-3", 9: "a-4"])
  }

  @Test(arguments: [false, true])
  func `after a kill every request has the name that it had, also in another manifest`(isReplaced: Bool) throws {
    // A run before it has given other names than the order would.
    try server.release(6)
    try folders.drop("job.txt", manifest([5, 4, 3, 2, 1, 0]))
    #expect(try folders.run(Self.two).status == 0)
    let before = try names()
    #expect(before == [5: "a", 4: "a-2", 3: "a-3", 2: "a-4", 1: "a-5", 0: "a-6"])
    _ = try requests(6)
    let killed = try start("run", manifest([0, 1, 2, 9, 3, 4]))
    try killed.kill()
    if isReplaced { try folders.drop("job.txt", manifest([8, 4, 9, 2, 1, 0])) }
    try server.release(40)
    #expect(try folders.run(Self.two).status == 0)
    var after = before.filter { $0.key != 5 }.merging([9: "a"]) { $1 }
    if isReplaced { (after[3], after[8]) = (nil, "a-3") }
    #expect(try names() == after)
    try folders.checkOutbox()
  }
}

import Foundation
import TestSupport
import Testing

/// `previews/`: a small JPEG of each large result.
@Suite(.blocking) struct PreviewTests {
  private let folders: DarkroomFolders

  /// With `large.jpg`, `other.jpg`, `large.png` and `small.jpg`.
  init() throws {
    folders = try DarkroomFolders()
    _ = try TestPython.run(
      """
      import os, sys
      from PIL import Image
      os.mkdir(sys.argv[2])
      os.chdir(sys.argv[2])
      photograph = Image.open(sys.argv[1])
      large = photograph.resize((1501, 1000))
      large.save('large.jpg')
      large.transpose(Image.FLIP_LEFT_RIGHT).save('other.jpg')
      photograph.convert('L').resize((1501, 1000)).save('large.png', compress_level=1)
      photograph.save('small.jpg')
      """, [packageRoot + "/Samples/coffee.jpg", folders.folder.file("pictures")])
  }

  private var options: [String] { ["--file-root", folders.folder.file("pictures")] }

  @discardableResult
  private func run(_ manifest: String, _ more: [String] = [], status: Int32 = 0) throws -> Report {
    try folders.drop("job.json", manifest)
    let finished = try folders.run(options + more)
    #expect(finished.status == status, "\(finished.error)")
    return try folders.report("job")
  }

  private func previews() throws -> [String] {
    let path = folders.outbox + "/job/previews"
    guard folders.exists("job/previews") else { return [] }
    return try FileManager.default.subpathsOfDirectory(atPath: path).filter { $0.contains(".") }.sorted()
  }

  /// Whether all is as it should be: what lies there, and what reports say. Each preview is compared with its result.
  private func check() throws {
    #expect(try folders.staged().isEmpty)
    try folders.checkOutbox()
    #expect(try ReportSchema.violations(of: folders.contents("job/report.json")) == "")
    let printed = try TestPython.run(
      """
      import json, sys
      import numpy as np
      from PIL import Image
      for row in json.load(open(sys.argv[1] + '/report.json'))['entries']:
          if 'preview' in row:
              result, preview = (Image.open(f'{sys.argv[1]}/{file}') for file in (row['output']['file'], row['preview']))
              wanted = np.asarray(result.convert('RGB').reduce(3)).astype(float)
              found = np.asarray(preview.convert('RGB')).astype(float)
              if preview.format != 'JPEG' or wanted.shape != found.shape or np.abs(wanted - found).mean() > 4:
                  print(row['name'], preview.format, wanted.shape, found.shape)
      """, [folders.outbox + "/job"])
    #expect(String(decoding: printed, as: UTF8.self) == "")
  }

  private static let four = #"{"a": "large.jpg", "s/b": "other.jpg", "c": "large.png", "d": "small.jpg"}"#

  @Test(arguments: [[], ["--isolation", "none"]])
  func `each large result has a preview, and its row names it`(more: [String]) throws {
    let report = try run(Self.four, more)
    #expect(report.entries.map(\.preview) == ["previews/a.jpg", "previews/s/b.jpg", "previews/c.jpg", nil])
    #expect(try previews() == ["a.jpg", "c.jpg", "s/b.jpg"])
    #expect(try folders.mode("job/previews/a.jpg") == folders.mode("job/images/a.jpg"))
    try check()
  }

  @Test func `what is copied, or not large, has none, and there is no folder for it`() throws {
    let manifest = #"""
      [{"name": "a", "url": "large.jpg", "filters": "none"}, {"name": "b", "url": "large.jpg", "filters": "resize(300 300)"},
       {"name": "c", "url": "small.jpg"}]
      """#
    #expect(try run(manifest).entries.map(\.preview) == [nil, nil, nil])
    #expect(!folders.exists("job/previews"))
    try check()
  }

  @Test func `without a gallery there are none, and those that are there stay with results that are reused`() throws {
    let one = #"{"a": "large.jpg"}"#
    #expect(try run(one, ["--gallery", "off"]).entries[0].preview == nil)
    #expect(!folders.exists("job/previews"))
    #expect(try run(one, ["--refresh"]).entries[0].preview == "previews/a.jpg")
    #expect(try run(one, ["--gallery", "off"]).entries[0].preview == "previews/a.jpg")
    try check()
    // One that is made anew has none, and what belonged to the one before goes.
    #expect(try run(one, ["--gallery", "off", "--refresh"]).entries[0].preview == nil)
    #expect(!folders.exists("job/previews/a.jpg"))
    try check()
  }

  @Test func `variants and entries that share a result each have their preview`() throws {
    let manifest = #"""
      [{"name": "a", "url": "large.jpg", "variants": [{"name": "v"}, {"name": "w", "format": "png"}, {"name": "x"}]},
       {"name": "b", "url": "large.jpg"}]
      """#
    let report = try run(manifest, ["--filtrations", "1"])
    #expect(report.entries.map(\.preview) == ["a.v", "a.w", "a.x", "b"].map { "previews/\($0).jpg" })
    try check()
    // Others find what one has reused.
    try FileManager.default.removeItem(atPath: folders.outbox + "/job/images/b.jpg")
    #expect(try run(manifest, ["--filtrations", "1"]).entries.compactMap(\.preview).count == 4)
    try check()
  }

  @Test func `a result that is reused keeps its preview, and has none when somebody has taken that away`() throws {
    let two = #"{"a": "large.jpg", "b": "other.jpg"}"#
    try run(two)
    let path = folders.outbox + "/job/previews/a.jpg"
    try FileManager.default.removeItem(atPath: path)
    let report = try run(two)
    #expect(report.counts.reused == 2 && report.entries.map(\.preview) == [nil, "previews/b.jpg"])
    try check()
    let again = try run(two, ["--refresh"])
    #expect(again.counts.reused == 0 && again.entries.map(\.preview) == ["previews/a.jpg", "previews/b.jpg"])
    try check()
  }

  @Test func `a preview is replaced with its result, and goes when that has none any more`() throws {
    let (one, name) = (#"{"a": "large.jpg"}"#, "job/previews/a.jpg")
    try run(one)
    let first = try folders.contents(name)
    #expect(try run(one, ["--filters", "grayscale()"]).entries[0].preview == "previews/a.jpg")
    #expect(try folders.contents(name) != first)
    try check()
    #expect(try run(one, ["--filters", "resize(300 300)"]).entries[0].preview == nil)
    #expect(!folders.exists(name))
    try check()
  }

  @Test(arguments: ["previews/a.jpg", "previews", "previews/s"])
  func `what somebody else has put there stays, and costs the preview only`(path: String) throws {
    let file = folders.outbox + "/job/" + path
    try FileManager.default.createDirectory(
      atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try Data("mine".utf8).write(to: URL(fileURLWithPath: file))
    let manifest = #"{"a": "large.jpg", "s/b": "other.jpg"}"#
    for more in [[], ["--refresh"], ["--filters", "resize(300 300)"], ["--prune"]] {
      let report = try run(manifest, more)
      #expect(report.state == "succeeded")
      #expect(report.entries[0].preview == (path.hasSuffix("/s") && more.first != "--filters" ? "previews/a.jpg" : nil))
      #expect(
        report.entries[1].preview == (path.hasSuffix("a.jpg") && more.first != "--filters" ? "previews/s/b.jpg" : nil))
      #expect(try folders.contents("job/" + path) == Data("mine".utf8))
      #expect(try folders.staged().isEmpty)
    }
  }

  @Test func `a preview that somebody has changed is left as it is`() throws {
    try run(#"{"a": "large.jpg"}"#)
    let file = URL(fileURLWithPath: folders.outbox + "/job/previews/a.jpg")
    try Data("mine".utf8).write(to: file)
    for more in [[], ["--refresh"], ["--filters", "resize(300 300)"]] {
      #expect(try run(#"{"a": "large.jpg"}"#, more).entries[0].preview == nil)
    }
    try run(#"{"b": "small.jpg"}"#, ["--prune"])
    #expect(try Data(contentsOf: file) == Data("mine".utf8))
  }

  @Test func `one that cannot be synced costs itself only`() throws {
    var states: Set<String> = []
    // Each thread counts its own, and which of them syncs the preview depends on the load: under load, six numbers may miss it.
    for trial in 0..<60 where trial < 6 || states.count < 2 {
      let job = "job\(trial)"
      try folders.drop(job + ".json", #"{"a": "large.jpg"}"#)
      _ = try folders.run(options + ["--isolation", "none"], injecting: "fsync:error=EIO:when=\(trial % 6 + 1)")
      if !folders.exists(job + "/report.json") {
        #expect(try folders.run(options).status == 0)
      }
      let report = try folders.report(job)
      let (preview, isThere) = (report.entries[0].preview, folders.exists(job + "/previews/a.jpg"))
      #expect(report.state == "succeeded" && (preview != nil) == isThere)
      #expect(try folders.staged().isEmpty)
      states.insert(preview ?? "none")
    }
    #expect(states == ["none", "previews/a.jpg"], "one of the syncs is that of the preview")
  }

  @Test func `previews of results that are no longer named go with them`() throws {
    try run(Self.four)
    try run(#"{"a": "large.jpg", "c": {"url": "large.png", "filters": "resize(300 300)"}}"#, ["--prune"])
    #expect(try previews() == ["a.jpg"])
    try check()
  }

  @Test(
    arguments: [
      ("sync_file_range", [2]), ("fdatasync", [3, 7]), ("renameat2", [2, 4, 6]), ("mkdirat", [2]), ("unlinkat", [2]),
    ].flatMap { call, numbers in numbers.map { (call, $0) } }.sample(3))
  func `killed anywhere, previews are whole or not there`(call: String, number: Int) throws {
    // Results of an earlier run, some of which are replaced, one by a small one.
    try run(#"{"a": "large.jpg", "b": "other.jpg"}"#)
    try folders.drop(
      "job.json",
      #"{"a": {"url": "other.jpg"}, "b": {"url": "large.jpg", "filters": "resize(300 300)"}, "c": "other.jpg"}"#)
    _ = try folders.run(options, injecting: "\(call):signal=KILL:when=\(number)")
    #expect(try folders.run(options).status == 0)
    let report = try folders.report("job")
    #expect(report.entries.map(\.preview) == ["previews/a.jpg", nil, "previews/c.jpg"])
    #expect(try previews() == ["a.jpg", "c.jpg"])
    try check()
  }
}

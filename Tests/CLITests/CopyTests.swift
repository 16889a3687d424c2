import Foundation
import System
import TestSupport
import Testing

/// Recipe `none` with the format `keep`: pictures are copied, without being decoded.
@Suite(.blocking) struct CopyTests {
  private let folders: DarkroomFolders
  private let pictures: TemporaryFolder
  private let nginx: Nginx

  init() throws {
    folders = try DarkroomFolders()
    pictures = try TemporaryFolder()
    nginx = try Nginx(serving: pictures.path)
  }

  /// Has the server serve a picture with EXIF that names a maker and whoever has the rights, and with a trailer.
  /// - Parameter damage: Makes the EXIF unreadable.
  private func serve(_ name: String, damage: Bool = false) throws {
    let script = """
      import sys
      from PIL import Image
      exif = Image.Exif()
      exif[0x010F] = 'MAKER'; exif[0x8298] = 'SOMEBODY'
      bytes = b'Exif' + bytes(2) + b'nonsense MAKER' if sys.argv[2] == 'true' else exif.tobytes()
      Image.new('RGB', (40, 30), (1, 2, 3)).save(sys.argv[1], exif=bytes)
      open(sys.argv[1], 'ab').write(b'TRAILER')
      """
    _ = try TestPython.run(script, [pictures.file(name), "\(damage)"])
  }

  /// Drops the same manifest again and runs it.
  private func run(_ names: [String], _ options: [String] = []) throws -> Report {
    try folders.drop("job.txt", names.map { nginx.url($0) + "\n" }.joined())
    try folders.run(["--filters", "none"] + options).expect(status: 0)
    return try folders.report("job")
  }

  private func digest(_ path: String) throws -> String {
    let file = try OpenFile(reading: path)
    defer { withExtendedLifetime(file) {} }
    return try MessageDigest.hexDigest(ofDescriptor: file.descriptor)
  }

  private func has(_ text: String, in file: String) throws -> Bool {
    try folders.contents("job/" + file).range(of: Data(text.utf8)) != nil
  }

  @Test func `a copy keeps what --metadata says, and another --metadata makes it again`() throws {
    try serve("a.jpg")
    let source = try Data(contentsOf: URL(fileURLWithPath: pictures.file("a.jpg")))
    for (policy, hasMaker, hasRights) in [
      ("copyright", false, true), ("none", false, false), ("all", true, true), ("none", false, false),
    ] {
      for isAgain in [false, true] {
        let row = try #require(try run(["a.jpg"], ["--metadata", policy]).entries.first)
        let output = try #require(row.output)
        #expect((row.reused ?? false) == isAgain, "\(policy)")
        #expect(try has("MAKER", in: output.file) == hasMaker)
        #expect(try has("SOMEBODY", in: output.file) == hasRights)
        #expect(try !has("TRAILER", in: output.file))
        #expect(output.width == 40 && output.height == 30 && row.warnings == nil)
        let copy = try folders.contents("job/" + output.file)
        #expect(try output.bytes == copy.count && output.sha256 == digest(folders.outbox + "/job/" + output.file))
        #expect(try row.source?.bytes == source.count && row.source?.sha256 == digest(pictures.file("a.jpg")))
      }
    }
    #expect(try folders.staged().isEmpty)
  }

  @Test func `a copy of what the cache or another entry has loses metadata, and they do not`() throws {
    try serve("a.jpg")
    let source = try Data(contentsOf: URL(fileURLWithPath: pictures.file("a.jpg")))
    try folders.drop(
      "job.jsonl", (0..<3).map { "{\"url\": \"\(nginx.url("a.jpg"))\", \"name\": \"p\($0)\"}\n" }.joined())
    #expect(try folders.run(["--filters", "none", "--metadata", "none"]).status == 0)
    let first = try (0..<3).map { try folders.contents("job/images/p\($0).jpg") }
    #expect(Set(first).count == 1 && first[0].count < source.count)
    try folders.drop("other.txt", nginx.url("a.jpg") + "\n")
    #expect(try folders.run(["--filters", "none", "--metadata", "all"]).status == 0)
    #expect(try folders.contents("other/images/a.jpg") == source.dropLast(7))
    #expect(try nginx.accessLog().filter { $0.contains(" 200 ") }.count == 1)
    #expect(try folders.staged().isEmpty)
  }

  @Test(.disabled(if: Sanitizer.isThread, "it dies of the limit"))
  func `of what the cache has only the parts that are the result are written`() throws {
    try serve("a.jpg")
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: pictures.file("a.jpg")))
    try file.seekToEnd()
    try file.write(contentsOf: Data(repeating: 7, count: 4 << 20))
    try file.close()
    _ = try run(["a.jpg"])
    try folders.drop("other.txt", nginx.url("a.jpg") + "\n")
    // The source is larger than files may be.
    try DarkroomProcess.run(script: "ulimit -f 1024; \(folders.line("run", ["--filters", "none"]))", in: folders.folder)
      .expect(status: 0)
    #expect(try folders.contents("other/images/a.jpg") == folders.contents("job/images/a.jpg"))
    #expect(try folders.report("other").entries.first?.source?.bytes ?? 0 > 4 << 20)
    #expect(try folders.staged().isEmpty)
  }

  @Test(arguments: ["SOMEBODY", "JFIF", "TRAILER"])
  func `what is cut out of a damaged copy in the cache is not delivered`(place: String) throws {
    try serve("a.jpg")
    _ = try run(["a.jpg"])
    let objects = try folders.cachedSources()
    #expect(objects.count == 1)
    let path = folders.outbox + "/.darkroom/cache/" + objects[0]
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes[try #require(bytes.range(of: Data(place.utf8))).lowerBound] ^= 1
    try bytes.write(to: URL(fileURLWithPath: path), options: .atomic)
    try folders.drop("other.txt", nginx.url("a.jpg") + "\n")
    #expect(try folders.run(["--filters", "none", "--retries", "0"]).status == 0)
    #expect(try folders.contents("other/images/a.jpg") == folders.contents("job/images/a.jpg"))
    #expect(try nginx.accessLog().filter { $0.contains(" 200 ") }.count == 2)
  }

  @Test func `metadata that cannot be read is left out of a copy, with a warning`() throws {
    try serve("a.jpg", damage: true)
    let row = try #require(try run(["a.jpg"]).entries.first)
    #expect(row.warnings?.map(\.code) == ["metadata-unreadable"])
    #expect(try !has("MAKER", in: "images/a.jpg"))
    #expect(try run(["a.jpg"], ["--metadata", "all"]).entries.first?.warnings == nil)
    #expect(try has("MAKER", in: "images/a.jpg"))
  }

  @Test func `a picture that is damaged where no pixel depends on it is copied, with a warning`() throws {
    try serve("a.jpg")
    var bytes = try Data(contentsOf: URL(fileURLWithPath: pictures.file("a.jpg")))
    // Before the marker of the segment.
    let exif = try #require(bytes.range(of: Data("Exif".utf8))).lowerBound - 4
    #expect(exif > 2)
    bytes.insert(contentsOf: Data("HIDDEN".utf8), at: exif)
    try bytes.write(to: URL(fileURLWithPath: pictures.file("a.jpg")))
    let row = try #require(try run(["a.jpg"]).entries.first)
    #expect(row.warnings?.map(\.code) == ["harmless-damage"])
    #expect(try !has("HIDDEN", in: "images/a.jpg") && has("SOMEBODY", in: "images/a.jpg"))
    // So it is decoded, by a worker, also for an entry that gets its result from another.
    for isolation in ["process", "none"] {
      try folders.drop("filtered-\(isolation).txt", "\(nginx.url("a.jpg"))\n\(nginx.url("a.jpg"))\n")
      #expect(try folders.run(["--filters", "sepia(0.8)", "--isolation", isolation]).status == 0)
      let rows = try folders.report("filtered-\(isolation)").entries
      #expect(rows.map { $0.warnings?.map(\.code) } == [["harmless-damage"], ["harmless-damage"]])
      #expect(rows.allSatisfy { $0.warnings?.first?.message.contains("6 extraneous bytes") == true })
    }
  }

  @Test(arguments: ["jpg", "png"])
  func `a picture whose colours or orientation may be wrong has a warning that says so`(type: String)
    throws
  {
    let script = """
      import sys, zlib
      from PIL import Image
      exif = Image.Exif()
      exif[0x0112] = 6
      Image.new('RGB', (40, 30), (1, 2, 3)).save(sys.argv[1], exif=exif.tobytes())
      bytes = bytearray(open(sys.argv[1], 'rb').read())
      if sys.argv[1].endswith('png'):
          place = bytes.index(b'eXIf')
          bytes[place + 4 + int.from_bytes(bytes[place - 4:place], 'big')] ^= 1
      else:
          bytes[bytes.index(b'Exif') - 4] = 0x7F
      open(sys.argv[1], 'wb').write(bytes)
      """
    _ = try TestPython.run(script, [pictures.file("a." + type)])
    // The checksum of a chunk is wrong, or the segment is none: there is nothing that could be read.
    let codes = type == "png" ? ["metadata-unreadable", "visible-damage"] : ["visible-damage"]
    #expect(try run(["a." + type]).entries.first?.warnings?.map(\.code) == codes)
    for isolation in ["process", "none"] {
      try folders.drop("filtered-\(isolation).txt", nginx.url("a." + type) + "\n")
      #expect(try folders.run(["--filters", "sepia(0.8)", "--isolation", isolation]).status == 0)
      let row = try #require(try folders.report("filtered-\(isolation)").entries.first)
      #expect(row.warnings?.map(\.code) == ["visible-damage"] && row.output?.width == 40)
      #expect(row.warnings?.first?.message.hasPrefix("the colours or the orientation may be wrong: ") == true)
      let report = try folders.contents("filtered-\(isolation)/report.json")
      #expect(try ReportSchema.violations(of: report) == "")
    }
  }

  @Test func `what is only copied needs no worker`() throws {
    let watch = try folders.start("watch", ["--json", "--filters", "none"])
    try folders.drop("job.txt", "coffee.jpg\nchelsea-small.png\nCREDITS.md\n")
    #expect(try folders.ask("wait", ["job"]).status == 1)
    let report = try folders.report("job")
    #expect(report.entries.map { $0.error?.code } == [nil, nil, "not-an-image"])
    let tasks = "/proc/\(watch.processID)/task/"
    let children = try FileManager.default.contentsOfDirectory(atPath: tasks).flatMap { task in
      let path = tasks + task + "/children"
      return ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: " ")
    }
    #expect(children.isEmpty)
    try watch.stop()
  }
}

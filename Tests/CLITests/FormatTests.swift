import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct FormatTests {
  static let names = ["astronaut.jpg", "chelsea-small.png", "coffee.jpg", "rocket.jpg"]

  /// The same four entries in each format, with names, by the base of their URLs.
  static let manifests: [(file: String, contents: @Sendable (String) throws -> Data)] = [
    (
      "a.json",
      { base in
        Data("{\(names.map { "\"\(stem($0))\": \"\(base)/\($0)\"" }.joined(separator: ","))}".utf8)
      }
    ),
    (
      "b.json",
      { base in
        Data("[\(names.map { "{\"url\": \"\(base)/\($0)\", \"name\": \"\(stem($0))\"}" }.joined(separator: ","))]".utf8)
      }
    ),
    (
      "c.json",
      { base in
        let entries = names.map { "\"\(base)/\($0)\"" }.joined(separator: ",")
        return Data("{\"defaults\": {\"filters\": \"sepia(0.8)\"}, \"entries\": [\(entries)]}".utf8)
      }
    ),
    ("d.jsonl", { base in Data(names.map { "\"\(base)/\($0)\"\n" }.joined().utf8) }),
    (
      "e.txt", { base in Data("# four pictures\n\(names.map { "\(base)/\($0)\r\n" }.joined())".utf8) }
    ),
    ("f.plist", { base in try propertyList(base, .xml) }),
    ("g.PLIST", { base in try propertyList(base, .binary) }),
  ]

  static func stem(_ name: String) -> Substring { name.prefix { $0 != "." } }

  static func propertyList(_ base: String, _ format: PropertyListSerialization.PropertyListFormat) throws -> Data {
    let list = Dictionary(uniqueKeysWithValues: names.map { (String(stem($0)), "\(base)/\($0)") })
    return try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
  }

  @Test func `every format leads to the same pictures and the same rows`() throws {
    let server = try Nginx(serving: packageRoot + "/Samples")
    let folders = try DarkroomFolders()
    for manifest in Self.manifests {
      try folders.drop(manifest.file, manifest.contents("http://127.0.0.1:\(server.port)"))
    }
    let run = try folders.run().expect(status: 0)
    #expect(try folders.inboxNames().isEmpty)
    let reports = try Self.manifests.map { try folders.report(String(Self.stem($0.file))) }
    let first = try #require(reports.first)
    #expect(first.entries.map(\.name) == Self.names.map { String(Self.stem($0)) })
    for report in reports {
      #expect(report.state == "succeeded")
      #expect(report.entries.map(\.index) == [0, 1, 2, 3])
      #expect(report.entries.map(\.name) == first.entries.map(\.name))
      #expect(report.entries.map(\.url) == first.entries.map(\.url))
      #expect(report.entries.map(\.output) == first.entries.map(\.output))
      for output in report.entries.compactMap(\.output) {
        #expect(try folders.contents("\(report.job)/\(output.file)").count == output.bytes)
      }
    }
    #expect(run.output.split(separator: "\n").count == Self.manifests.count, "the path of each report is printed")
  }

  @Test func `rows tell with which quality a result was encoded, and what was kept of its metadata`() throws {
    let folders = try DarkroomFolders()
    let lossless = folders.folder.file("lossless.webp")
    _ = try TestPython.run(
      "import sys; from PIL import Image; Image.new('RGB', (40, 30), (9, 90, 200)).save(sys.argv[1], lossless=True)",
      [lossless])
    let server = try Nginx(serving: packageRoot + "/Samples")
    let other = try Nginx(serving: folders.folder.path)
    func entry(_ name: String, _ url: String, _ more: String = "") -> String {
      #"{"name": "\#(name)", "url": "\#(url)"\#(more)}"# + "\n"
    }
    let jpeg = server.url("coffee.jpg")
    try folders.drop(
      "job.jsonl",
      entry("jpeg", jpeg) + entry("finer", jpeg, #", "quality": 91"#) + entry("png", jpeg, #", "format": "png""#)
        + entry("webp", jpeg, #", "format": "webp", "quality": 60"#) + entry("lossless", other.url("lossless.webp"))
        + entry("copy", jpeg, #", "filters": "none""#))
    let options = ["--metadata", "all"]
    let expected: [Int?] = [85, 91, nil, 60, nil, nil]
    for isFirst in [true, false] {
      if !isFirst { try folders.drop("job.jsonl", folders.contents("job/manifest.jsonl")) }
      try folders.run(options).expect(status: 0)
      let report = try folders.report("job")
      #expect(report.counts.reused == (isFirst ? 0 : 6))
      #expect(report.entries.map(\.output?.quality) == expected)
      #expect(report.entries.allSatisfy { $0.output?.metadata == "all" })
    }
  }

  @Test func `pictures of formats that are only read become PNG, are copied as they are, and are reused`() throws {
    let folders = try DarkroomFolders()
    _ = try TestPython.run(
      """
      import sys; from PIL import Image
      for kind in ['gif', 'bmp']: Image.new('RGB', (40, 30), (9, 90, 200)).save(sys.argv[1] + '/a.' + kind)
      """, [folders.folder.path])
    let server = try Nginx(serving: folders.folder.path)
    func line(_ name: String, _ file: String, _ more: String = "") -> String {
      #"{"name": "\#(name)", "url": "\#(server.url(file))"\#(more)}"# + "\n"
    }
    let lines =
      line("gif", "a.gif") + line("bmp", "a.bmp") + line("copy", "a.gif", #", "filters": "none""#)
      + line("web", "a.bmp", #", "format": "webp""#)
    for isFirst in [true, false] {
      try folders.drop("job.jsonl", lines)
      try folders.run().expect(status: 0)
      let report = try folders.report("job")
      #expect(report.counts.reused == (isFirst ? 0 : 4))
      #expect(
        report.entries.map { $0.output?.file } == [
          "images/gif.png", "images/bmp.png", "images/copy.gif", "images/web.webp",
        ])
      #expect(report.entries.map { $0.output?.quality } == [nil, nil, nil, 85])
    }
    #expect(
      try folders.contents("job/images/copy.gif")
        == Data(contentsOf: URL(fileURLWithPath: folders.folder.file("a.gif"))))
    try folders.drop("other.jsonl", lines.replacing("\"name\": \"", with: "\"name\": \"other-"))
    let told = try folders.run(["--isolation", "none", "--cache-size", "0"]).expect(status: 1).error
    #expect(told.contains("remedy for unsupported-format: if the message names --isolation process, use that"))
    let rows = try folders.report("other").entries
    #expect(rows.map { $0.error?.code } == ["unsupported-format", "unsupported-format", nil, "unsupported-format"])
    #expect(rows[0].error?.message == "GIF is only decoded by confined workers (--isolation process)")
  }

  @Test func `results are made again with another chroma sampling, unless their named format has none`() throws {
    let folders = try DarkroomFolders()
    let server = try Nginx(serving: packageRoot + "/Samples")
    let lines = [("jpeg", "coffee.jpg"), ("png", "chelsea-small.png"), ("avif", "rocket.jpg")].map { format, file in
      #"{"name": "\#(format)", "url": "\#(server.url(file))", "format": "\#(format)"}"# + "\n"
    }
    for (choice, reused, sampling) in [(nil, 0, "2"), ("444", 1, "0"), ("444", 3, "0"), ("420", 1, "2")] {
      try folders.drop("job.jsonl", lines.joined())
      try folders.run(choice.map { ["--chroma", $0] } ?? []).expect(status: 0)
      #expect(try folders.report("job").counts.reused == reused)
      let printed = try TestPython.run(
        """
        import sys; from PIL import Image, JpegImagePlugin
        print(JpegImagePlugin.get_sampling(Image.open(sys.argv[1])), end='')
        """, [folders.outbox + "/job/images/jpeg.jpg"])
      #expect(String(decoding: printed, as: UTF8.self) == sampling)
    }
  }

  @Test func `results are made again with another coding of JPEG, unless they have another format`() throws {
    let folders = try DarkroomFolders()
    let server = try Nginx(serving: packageRoot + "/Samples")
    let lines = ["jpeg", "png"].map {
      #"{"name": "\#($0)", "url": "\#(server.url("coffee.jpg"))", "format": "\#($0)"}"# + "\n"
    }
    for (choice, reused) in [(nil, 0), ("progressive", 1), ("progressive", 2), ("baseline", 1), (nil, 2)] {
      try folders.drop("job.jsonl", lines.joined())
      try folders.run(choice.map { ["--jpeg-coding", $0] } ?? []).expect(status: 0)
      #expect(try folders.report("job").counts.reused == reused, "\(choice ?? "none")")
      let printed = try TestPython.run(
        "import sys; from PIL import Image; print('progressive' in Image.open(sys.argv[1]).info, end='')",
        [folders.outbox + "/job/images/jpeg.jpg"])
      #expect(String(decoding: printed, as: UTF8.self) == (choice == "progressive" ? "True" : "False"))
    }
  }

  @Test func `results in PNG are made again with palettes`() throws {
    let folders = try DarkroomFolders()
    let server = try Nginx(serving: folders.folder.path)
    _ = try TestPython.run(
      "import sys; from PIL import Image; Image.new('RGB', (90, 60), 'teal').save(sys.argv[1])",
      [folders.folder.file("in.png")])
    let lines = ["jpeg", "png"].map {
      #"{"name": "\#($0)", "url": "\#(server.url("in.png"))", "format": "\#($0)"}"# + "\n"
    }
    for (choice, reused) in [(nil, 0), ("lossless", 1), ("lossless", 2), ("off", 1)] {
      try folders.drop("job.jsonl", lines.joined())
      try folders.run(choice.map { ["--png-palette", $0] } ?? []).expect(status: 0)
      #expect(try folders.report("job").counts.reused == reused, "\(choice ?? "none")")
      let printed = try TestPython.run(
        "import sys; from PIL import Image; print(Image.open(sys.argv[1]).mode, end='')",
        [folders.outbox + "/job/images/png.png"])
      #expect(String(decoding: printed, as: UTF8.self) == (choice == "lossless" ? "P" : "RGB"))
    }
  }

  @Test func `AVIF and HEIC are read, AVIF is written, and both are copied`() throws {
    let folders = try DarkroomFolders()
    _ = try TestPython.run(
      """
      import sys, pillow_heif; from PIL import Image
      pillow_heif.register_heif_opener()
      for kind in ['avif', 'heic']: Image.new('RGB', (40, 30), (9, 90, 200)).save(sys.argv[1] + '/a.' + kind)
      Image.new('RGBA', (40, 30), (9, 90, 200, 128)).save(sys.argv[1] + '/a.png')
      """, [folders.folder.path])
    let server = try Nginx(serving: folders.folder.path)
    func line(_ name: String, _ file: String, _ more: String = "") -> String {
      #"{"name": "\#(name)", "url": "\#(server.url(file))"\#(more)}"# + "\n"
    }
    let lines =
      line("png", "a.png", #", "format": "avif""#) + line("avif", "a.avif") + line("heic", "a.heic")
      + line("copy", "a.heic", #", "filters": "none""#) + line("last", "a.png")
    for isFirst in [true, false] {
      try folders.drop("job.jsonl", lines)
      // One worker, which has no large library until a picture needs it.
      try folders.run(["--filtrations", "1"]).expect(status: 0)
      let report = try folders.report("job")
      #expect(report.counts.reused == (isFirst ? 0 : 5))
      #expect(
        report.entries.map { $0.output?.file } == [
          "images/png.avif", "images/avif.avif", "images/heic.jpg", "images/copy.heic", "images/last.png",
        ])
      #expect(report.entries.map { $0.output?.quality } == [85, 85, 85, nil, nil])
    }
    #expect(
      try folders.contents("job/images/copy.heic")
        == Data(contentsOf: URL(fileURLWithPath: folders.folder.file("a.heic"))))
    let printed = try TestPython.run(
      """
      import sys; from PIL import Image
      a, b = Image.open(sys.argv[1] + '/png.avif'), Image.open(sys.argv[1] + '/avif.avif')
      print(a.mode, b.mode, abs(a.getpixel((20, 15))[3] - 128) < 3)
      """, [folders.outbox + "/job/images"])
    #expect(String(decoding: printed, as: UTF8.self) == "RGBA RGB True\n")
    try folders.drop("other.jsonl", lines.replacing("\"name\": \"", with: "\"name\": \"other-"))
    try folders.run(["--isolation", "none", "--cache-size", "0"]).expect(status: 1)
    let rows = try folders.report("other").entries
    #expect(rows.map { $0.error?.code } == [nil, "unsupported-format", "unsupported-format", nil, nil])
  }
}

import Foundation
import TestSupport
import Testing

/// The program and its workers where a library that is loaded on demand is not installed.
@Suite(.blocking) struct MissingLibraryTests {
  private let folders: DarkroomFolders

  init() throws {
    folders = try DarkroomFolders()
    _ = try TestPython.run(
      """
      import sys, pillow_heif; from PIL import Image
      pillow_heif.register_heif_opener()
      for kind in ['gif', 'avif', 'heic', 'tiff', 'png']:
          Image.new('RGB', (40, 30), (9, 90, 200)).save(sys.argv[1] + '/' + kind + '.' + kind)
      """, [folders.folder.path])
  }

  /// An environment in which the loader finds, in the folder that it searches first, a file of a library's name that is no
  /// library: it fails there, and searches no further.
  private func environment(without file: String) throws -> [String: String] {
    let folder = folders.folder.file("libraries")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data("no library".utf8).write(to: URL(fileURLWithPath: folder + "/" + file))
    return ["LD_LIBRARY_PATH": folder]
  }

  @Test(arguments: [
    ("libgif.so.7", "giflib", ["gif"]), ("libheif.so.1", "libheif", ["avif", "heic", "written"]),
    ("libtiff.so.6", "libtiff", ["tiff"]),
  ])
  func `what needs the library fails with its name, and copies and other formats do not`(
    _ file: String, _ library: String, _ failing: [String]
  ) throws {
    let environment = try environment(without: file)
    let entries =
      ["gif", "avif", "heic", "tiff", "png"].map { ($0, $0, "") }
      + ["gif", "avif", "heic", "tiff"].map {
        ("copy-" + $0, $0, #", "filters": "none", "format": "keep""#)
      }
    let lines = (entries + [("written", "png", #", "format": "avif""#)]).map { name, file, more in
      #"{"name": "\#(name)", "url": "\#(folders.folder.file("\(file).\(file)"))"\#(more)}"# + "\n"
    }
    try folders.drop("job.jsonl", lines.joined())
    try DarkroomProcess.run(
      ["run"] + folders.options.filter { !$0.hasSuffix("/Samples") && $0 != "--file-root" }
        + ["--file-root", folders.folder.path], environment: environment
    ).expect(status: 1)
    for row in try folders.report("job").entries {
      guard failing.contains(row.name) else {
        #expect(row.error == nil, "\(row.name): \(row.error?.message ?? "")")
        continue
      }
      #expect(row.error?.code == "unsupported-format", "\(row.name)")
      let use = row.name == "written" ? "AVIF is encoded" : "\(row.name.uppercased()) is decoded"
      #expect(row.error?.message == "\(use) with \(library), which is not installed")
    }
  }

  @Test func `without libcurl local files are processed, and a URL ends the program and waits for the next start`()
    throws
  {
    let environment = try environment(without: "libcurl.so.4")
    try folders.drop("local.txt", "coffee.jpg\n")
    let run = ["run"] + folders.options
    try DarkroomProcess.run(run, environment: environment).expect(status: 0)
    try folders.drop("remote.txt", "http://127.0.0.1:1/a.jpg\n")
    let ended = try DarkroomProcess.run(run, environment: environment).expect(status: 70)
    #expect(ended.error.contains("darkroom: libcurl.so.4 cannot be loaded: "))
    try folders.run().expect(status: 1)
    #expect(try folders.report("remote").entries.count == 1)

    let doctor = try DarkroomProcess.run(["doctor"] + folders.named, environment: environment).expect(status: 1)
    #expect(doctor.output.contains("no URL can be downloaded: ") && doctor.output.contains("Debian: libcurl4"))
  }

  @Test func `doctor and filters say what is missing`() throws {
    let environment = try environment(without: "libheif.so.1")
    let doctor = try DarkroomProcess.run(["doctor"] + folders.named, environment: environment)
    #expect(doctor.output.contains("libheif is not installed: AVIF is not read"))
    #expect(doctor.output.contains("install it (Debian: libheif1)"))
    let filters = try DarkroomProcess.run(["filters"], environment: environment).expect(status: 0)
    let words = filters.output.split { $0.isWhitespace }.joined(separator: " ")
    #expect(words.contains("AVIF needs libheif, which is not installed"))
    let written = try #require(filters.output.split(separator: "\n").first { $0.hasPrefix("writes: ") })
    #expect(written == "writes: JPEG, PNG, WebP")
  }
}

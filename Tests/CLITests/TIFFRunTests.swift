import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct TIFFRunTests {
  private static let made = """
    import sys; from PIL import Image
    p = Image.linear_gradient('L').resize((40, 30))
    p.save(sys.argv[1] + '/a.tif', save_all=True, append_images=[p, p], compression='tiff_lzw')
    """

  private static func line(_ url: String, _ name: String, _ more: String = "") -> String {
    #"{"name": "\#(name)", "url": "\#(url)"\#(more)}"# + "\n"
  }

  @Test func `TIFF becomes PNG, or is copied, and is decoded by workers only`() throws {
    let folders = try DarkroomFolders()
    _ = try TestPython.run(Self.made, [folders.folder.path])
    let server = try Nginx(serving: folders.folder.path)
    let url = server.url("a.tif")
    try folders.drop(
      "job.jsonl",
      Self.line(url, "made", #", "filters": "invert(1)""#) + Self.line(url, "copy", #", "filters": "none""#))
    try folders.run(["--filtrations", "1"]).expect(status: 0)
    let report = try folders.report("job")
    #expect(report.entries.map { $0.output?.file } == ["images/made.png", "images/copy.tif"])
    #expect(report.entries.map { $0.source?.frames } == [3, 3])
    let printed = try TestPython.run(
      """
      import sys; from PIL import Image, ImageOps
      a, b, c = (Image.open(p) for p in sys.argv[1:])
      print(b.mode, c.n_frames, list(ImageOps.invert(a).getdata()) == list(b.getdata()), list(a.getdata()) == list(c.getdata()))
      """,
      [folders.folder.file("a.tif")] + ["made.png", "copy.tif"].map { folders.outbox + "/job/images/" + $0 })
    #expect(String(decoding: printed, as: UTF8.self) == "L 3 True True\n")
    try folders.drop("other.jsonl", Self.line(url, "other"))
    try folders.run(["--isolation", "none"]).expect(status: 1)
    #expect(try folders.report("other").entries.map { $0.error?.code } == ["unsupported-format"])
  }
}

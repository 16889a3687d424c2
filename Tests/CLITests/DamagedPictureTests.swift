import Foundation
import TestSupport
import Testing

/// Pictures that were damaged on their way, through the whole program.
@Suite(.blocking) struct DamagedPictureTests {
  @Test(arguments: ["PNG", "JPEG", "JPEG progressive"])
  func `a damaged picture fails with a code of the picture, or is delivered whole`(_ kind: String) throws {
    let folders = try DarkroomFolders()
    _ = try TestPython.run(
      """
      import io, sys
      from PIL import Image
      folder, sample, kind = sys.argv[1:4]
      stored = io.BytesIO()
      Image.open(sample).crop((60, 20, 141, 77)).save(stored, kind.split()[0], progressive='progressive' in kind)
      whole = stored.getvalue()
      for step in range(100):
          flipped = bytearray(whole)
          flipped[step * (len(whole) - 1) // 99] ^= 1 << step % 8
          for name, data in [('cut', whole[:step * len(whole) // 100]), ('flipped', flipped)]:
              open(f'{folder}/{name}{step:02}', 'wb').write(data)
      """, [folders.folder.path, packageRoot + "/Samples/chelsea-small.png", kind])
    let names = (0..<100).flatMap { number in ["cut", "flipped"].map { $0 + String(format: "%02d", number) } }
    try folders.drop("damaged.txt", names.joined(separator: "\n"))
    let finished = try DarkroomProcess.run(
      ["run", "--file-root", folders.folder.path, "--settle", "0", "--retries", "0", "--max-pixels", "1M"]
        + folders.named)
    #expect(finished.status == 1)

    let report = try folders.report("damaged")
    #expect(report.entries.map(\.name).sorted() == names.sorted())
    let codes: Set<String> = [
      "not-an-image", "unsupported-format", "image-corrupt", "image-truncated", "image-too-large",
    ]
    for row in report.entries {
      #expect(row.state == "filtered" || row.error.map { $0.stage == "filter" && codes.contains($0.code) } == true)
      if row.name.hasPrefix("cut") { #expect(row.state == "failed", "\(row.name)") }
    }
    let delivered = report.entries.compactMap { $0.output?.file }
    let images = (try? FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/damaged/images")) ?? []
    #expect(images.map { "images/" + $0 }.sorted() == delivered.sorted())
    #expect(try folders.staged().isEmpty)
    _ = try TestPython.run(
      """
      import sys
      from PIL import Image
      for path in sys.argv[1:]:
          Image.open(path).load()
      """, delivered.map { folders.outbox + "/damaged/" + $0 })
  }
}

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

  /// A folder with a JPEG, `whole.jpg`, and its first half, `cut.jpg`.
  private func halves() throws -> DarkroomFolders {
    let folders = try DarkroomFolders()
    let sample = try Data(contentsOf: URL(fileURLWithPath: packageRoot + "/Samples/chelsea.jpg"))
    try sample.write(to: URL(fileURLWithPath: folders.folder.file("whole.jpg")))
    try sample.prefix(sample.count / 2).write(to: URL(fileURLWithPath: folders.folder.file("cut.jpg")))
    return folders
  }

  /// Runs a job of the two pictures, of which the first half occurs twice, and returns its rows by name.
  private func run(
    _ folders: DarkroomFolders, _ options: [String], status: Int32
  ) throws -> [String: Report.Row] {
    try folders.drop("damaged.txt", "cut.jpg\ncut.jpg\nwhole.jpg\n")
    let finished = try folders.run(["--file-root", folders.folder.path] + options)
    #expect(finished.status == status, "\(finished.error)")
    let report = try folders.validReport("damaged")
    let rows = report.entries
    #expect(rows.count == 3)
    let damaged = rows.filter { $0.warnings?.isEmpty == false }
    let warning = "\(damaged.count) results are of damaged pictures, and may look wrong: \"cut\", \"cut-2\""
    #expect(report.warnings?.map(\.message) == (damaged.isEmpty ? nil : [warning]))
    #expect(report.warnings?.first.map { $0.code == "damaged-pictures" && $0.where == "entries[0]" } ?? true)
    #expect(finished.error.contains("damaged: warning: \(warning)\n") == !damaged.isEmpty, "\(finished.error)")
    return Dictionary(rows.map { ($0.name, $0) }) { first, _ in first }
  }

  private static let names = ["cut", "cut-2"]

  @Test(arguments: ["process", "none"])
  func `a cut off picture is used with a warning where that is accepted, and nowhere else`(isolation: String) throws {
    let folders = try halves()
    let isolated = ["--isolation", isolation]
    var rows = try run(folders, isolated, status: 1)
    for name in Self.names { #expect(rows[name]?.error?.code == "image-truncated") }
    #expect(rows["whole"]?.state == "filtered")

    rows = try run(folders, isolated + ["--damaged", "accept"], status: 0)
    let whole = try #require(rows["whole"]?.output)
    for name in Self.names {
      let row = try #require(rows[name])
      #expect(row.warnings?.map(\.code) == ["pixel-damage"])
      let message = try #require(row.warnings?.first?.message)
      #expect(
        message.wholeMatch(of: /pixels are missing or wrong after \d+ of 300 rows: Premature end of JPEG file/) != nil,
        "\(message)")
      #expect(row.output?.width == whole.width && row.output?.height == whole.height)
    }
    #expect(rows["whole"]?.warnings == nil && rows["whole"]?.reused == true, "intact pictures have the same key")

    rows = try run(folders, isolated + ["--damaged", "accept"], status: 0)
    for name in Self.names + ["whole"] { #expect(rows[name]?.reused == true) }
    rows = try run(folders, isolated + ["--damaged", "fail"], status: 1)
    for name in Self.names { #expect(rows[name]?.error?.code == "image-truncated") }
    #expect(rows["whole"]?.reused == true)
  }

  @Test(arguments: ["process", "none"])
  func `what is wrong behind the pixels is accepted only by a run that accepts damage`(isolation: String) throws {
    let folders = try DarkroomFolders()
    _ = try TestPython.run(
      """
      import sys
      from PIL import Image
      folder, sample = sys.argv[1:]
      picture = Image.open(sample).convert('RGB').crop((60, 20, 141, 77))
      endings = {'png': lambda whole: whole[:-12], 'jpg': lambda whole: whole[:-2], 'gif': lambda whole: whole[:-1] + b'?;'}
      for ending, damaged in endings.items():
          path = f'{folder}/behind.{ending}'
          picture.save(path)
          with open(path, 'rb') as file: whole = file.read()
          with open(path, 'wb') as file: file.write(damaged(whole))
      """, [folders.folder.path, packageRoot + "/Samples/chelsea-small.png"])
    // GIF is read only in a worker.
    let names = ["behind.png", "behind.jpg"] + (isolation == "process" ? ["behind.gif"] : [])
    for (policy, isAgain) in [("accept", false), ("accept", true), ("fail", true), ("accept", true)] {
      try folders.drop("damaged.txt", names.joined(separator: "\n"))
      let finished = try folders.run(
        ["--file-root", folders.folder.path, "--isolation", isolation, "--damaged", policy])
      #expect(finished.status == (policy == "accept" ? 0 : 1), "\(finished.error)")
      let rows = try folders.validReport("damaged").entries
      #expect(rows.count == names.count)
      for row in rows {
        if policy == "accept" {
          #expect(row.reused ?? false == isAgain)
          if !isAgain { #expect(row.warnings?.map(\.code) == ["harmless-damage"], "\(row.name)") }
        } else {
          #expect(["image-truncated", "image-corrupt"].contains(row.error?.code), "\(row.name)")
        }
      }
    }
  }

  @Test func `a copy of a GIF with damage behind its first frame is made and reused only where that is accepted`()
    throws
  {
    let folders = try DarkroomFolders()
    _ = try TestPython.run(
      """
      import sys
      from PIL import Image
      Image.new('P', (8, 8)).save(sys.argv[1])
      data = open(sys.argv[1], 'rb').read()
      open(sys.argv[1], 'wb').write(data[:-1] + b'?;')
      """, [folders.folder.file("behind.gif")])
    for (policy, isAgain) in [("fail", false), ("accept", false), ("accept", true), ("fail", true)] {
      try folders.drop("damaged.txt", "behind.gif")
      let finished = try folders.run(
        ["--file-root", folders.folder.path, "--filters", "none", "--damaged", policy])
      #expect(finished.status == (policy == "accept" ? 0 : 1), "\(finished.error)")
      let row = try #require(try folders.validReport("damaged").entries.first)
      #expect(row.error?.code == (policy == "accept" ? nil : "image-corrupt"))
      guard policy == "accept" else { continue }
      #expect(row.reused ?? false == isAgain && row.output?.format == "gif")
      if !isAgain { #expect(row.warnings?.map(\.code) == ["harmless-damage"]) }
    }
  }

  @Test(arguments: [false, true])
  func `without the ledger, reports know which results are of damaged pictures`(isAccepted: Bool) throws {
    let folders = try halves()
    let options = ["--cache-size", "0", "--damaged"]
    _ = try run(folders, options + ["accept"], status: 0)
    try FileManager.default.removeItem(atPath: folders.outbox + "/.darkroom/ledger.sqlite")
    let rows = try run(folders, options + [isAccepted ? "accept" : "fail"], status: isAccepted ? 0 : 1)
    for name in Self.names {
      #expect(rows[name]?.reused ?? false == isAccepted && (rows[name]?.error == nil) == isAccepted)
    }
    #expect(rows["whole"]?.reused == true)
  }

  @Test func `a copy of a cut off picture is the cut off file, whether damage is accepted or not`() throws {
    let folders = try halves()
    for policy in ["fail", "accept"] {
      let rows = try run(folders, ["--filters", "none", "--metadata", "all", "--damaged", policy], status: 0)
      #expect(rows["cut"]?.warnings == nil && (rows["cut"]?.reused ?? false) == (policy == "accept"))
      #expect(
        try folders.contents("damaged/images/cut.jpg")
          == Data(contentsOf: URL(fileURLWithPath: folders.folder.file("cut.jpg"))))
    }
  }
}

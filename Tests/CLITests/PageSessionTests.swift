import Foundation
import TestSupport
import Testing

/// README, tutorial and comparison can be typed along.
@Suite("The pages that readers type along", .blocking)
struct PageSessionTests {
  @Test("print what they say, block by block", arguments: PageSession.pages)
  func session(_ page: String) throws {
    let session = try PageSession(page: page)
    let status = try session.run()
    let steps = session.steps()
    #expect(!steps.isEmpty)
    let last = steps.last { $0.printed != nil }
    #expect(status == 0, "\(last?.block.text ?? ""): \(last?.printed ?? "")")
    #expect(status != 0 || steps.allSatisfy { $0.printed != nil })
    for step in steps {
      guard let printed = step.printed else { continue }
      if let shown = step.shown {
        let missing = shown.firstMissingLine(in: printed)
        #expect(missing == nil, "\(step.block.text): \(printed)")
      } else if step.block.language == "crontab" {
        // Cron would mail it.
        #expect(printed.isEmpty, "\(step.block.text)")
      }
    }
  }

  /// What needs root, or builds the program, is marked as `setup`: the tests do it in their own way.
  @Test("have no block that is not run", arguments: PageSession.pages)
  func blocks(_ page: String) throws {
    for block in try Documentation.blocks(of: page) where block.language != nil {
      let isRun = block.isRun || block.file != nil || block.manifest != nil || block.server != nil
      #expect(isRun || block.isTagged("output") || block.isTagged("setup"), "\(block.text)")
      guard block.isTagged("setup") else { continue }
      for line in block.text.split(separator: "\n") {
        #expect(line.hasPrefix("sudo ") || line.hasPrefix("script/"), "\(line)")
        for script in line.matches(of: /script\/[a-z-]+/) {
          #expect(FileManager.default.isExecutableFile(atPath: packageRoot + "/" + script.0))
        }
      }
    }
  }

  @Test("show the pictures that the program makes")
  func pictures() throws {
    let manifest = try #require(try Documentation.blocks(of: "Samples/CREDITS.md").first { $0.manifest == "cat.json" })
    let folders = try DarkroomFolders()
    try folders.drop("cat.json", manifest.localText)
    #expect(try folders.run().status == 0)
    for name in ["before", "after"] {
      let printed = try TestPython.run(
        """
        import sys
        from PIL import Image, ImageChops
        made, shown = (Image.open(path) for path in sys.argv[1:])
        difference = max(high for low, high in ImageChops.difference(made, shown).getextrema())
        print(made.size == shown.size and difference <= 8)
        """,
        ["\(folders.outbox)/cat/images/cat.\(name).jpg", "\(packageRoot)/Documentation/\(name).jpg"])
      #expect(String(decoding: printed, as: UTF8.self) == "True\n", "\(name)")
    }
  }

  private static let comparisons: [(shown: String, printed: String, missing: String?)] = [
    ("a\nb\n", "a\nother\nb\n", nil), ("a\nb\n", "b\na\n", "b"), ("a\n", "ab\n", "a"), ("a\na\n", "a\n", "a"),
    ("…\nb\n", "a\nb\n", nil), ("a … c\n", "a b c\n", nil), ("a … c\n", "a b d\n", "a … c"),
    ("ab…bc\n", "abc\n", "ab…bc"), ("…b…\n", "abc\n", nil), ("a…b…c\n", "a-c\n", "a…b…c"),
    ("2026-03-01T06:30:00Z a in 0.1 s\n", "2027-12-31T23:59:59.123Z a in 12.0 s\n", nil),
    ("2026-03-01T06:30:00Z a\n", "2026-03-01T06:30:00Z b\n", "TIME a"),
  ]

  @Test("are compared line by line with what is printed", arguments: comparisons)
  func comparison(_ comparison: (shown: String, printed: String, missing: String?)) {
    #expect(ShownOutput(text: comparison.shown).firstMissingLine(in: comparison.printed) == comparison.missing)
  }
}

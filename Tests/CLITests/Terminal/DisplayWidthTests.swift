import Foundation
import Testing

@testable import DarkroomCLI

/// The columns that text occupies, as `wcwidth` and terminals count them; where these differ, not fewer.
@Suite struct DisplayWidthTests {
  @Test(arguments: [
    ("", 0), ("cats", 4), ("Zürich", 6), ("Zu\u{308}rich", 6), ("写真", 4), ("ﾊﾝ", 2), ("한글", 4), ("ｆｕｌｌ", 8), ("🐈", 2),
    ("❤\u{FE0F}", 2), ("❤", 1), ("👩‍🚀", 4), ("🇨🇭", 4), ("a\u{200B}b", 2), ("\u{202E}abc", 3), ("„a“ – …", 7), ("ไทย", 3),
    ("ที่", 1),
  ])
  func `columns are counted`(text: String, columns: Int) { #expect(text.columns == columns) }

  @Test(arguments: ["cats", "写真-日本語の仕事", "Zu\u{308}rich", "👩‍🚀👩‍🚀👩‍🚀", "a🐈b🐈c", ""], 0...24)
  func `cut text fits, and says that something is missing`(text: String, limit: Int) {
    let cut = text.cut(toColumns: limit)
    #expect(cut.columns <= limit)
    #expect(cut == text || limit == 0 || cut.hasSuffix("…") && text.hasPrefix(cut.dropLast()))
    #expect(text.columns > limit || cut == text, "what fits stays")
    // A wide character may not fit where half of it would.
    #expect(cut == text || limit == 0 || cut.columns >= limit - 4)
    #expect(text.filled(toColumns: limit).columns == max(limit, text.columns))
  }

  @Test(arguments: 0...24)
  func `styled text is cut like plain text, without a style that goes on`(limit: Int) {
    let styled = StyledText("写真 ", .bold) + "three " + StyledText("failed", .bad) + ", ok"
    let cut = styled.cut(toColumns: limit)
    #expect(cut.text == "写真 three failed, ok".cut(toColumns: limit))
    let rendered = cut.rendered(hasColour: true)
    let pieces = rendered.components(separatedBy: "\u{1B}[0m")
    #expect(pieces.dropLast().allSatisfy { $0.contains("\u{1B}[") } && pieces.last?.contains("\u{1B}") == false)
    #expect(rendered.replacing(/\u{1B}\[[0-9]*m/, with: "") == cut.text)
    #expect(cut.rendered(hasColour: false) == cut.text)
  }

  @Test(arguments: [
    (0, "0:00"), (59.9, "0:59"), (60, "1:00"), (3599, "59:59"), (3723, "1:02:03"), (200_000, "2 d 7 h"), (-1, "0:00"),
    (.infinity, "long"),
  ])
  func `seconds are shown as by a clock`(seconds: Double, text: String) { #expect(seconds.clockText == text) }

  @Test(arguments: [(123.4, "123/s"), (9.96, "10.0/s"), (3.21, "3.2/s"), (0.054, "0.05/s")])
  func `rates have as many digits as they need`(rate: Double, text: String) { #expect(rate.rateText == text) }
}

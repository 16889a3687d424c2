import TestSupport
import Testing

@testable import Manifests

/// Property lists that were not copied to their end, and whole ones with other mistakes.
@Suite struct BrokenPropertyListTests {
  private static let whole = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <!-- cats -->
    <plist version="1.0">
    <dict>
      <key>a &amp; b</key>
      <string>http://h/a</string>
      <key>c</key><dict><key>url</key><string><![CDATA[http://h/c]]></string></dict>
    </dict>
    </plist>
    """

  @Test func `wherever one is cut off, it says that the file ends early, and in which line`() throws {
    #expect(try ReadManifest(Self.whole, as: "m.plist").entries.count == 2)
    for length in 1..<Self.whole.utf8.count {
      let cut = String(decoding: Self.whole.utf8.prefix(length), as: UTF8.self)
      let content = cut.reversed().drop(while: \.isWhitespace).reversed()
      let line = content.split(separator: "\n", omittingEmptySubsequences: false).count
      let read = try ReadManifest(cut, as: "m.plist")
      #expect(read.entries.isEmpty && read.found == ["syntax @ line \(line)"], "\(cut)")
      #expect(read.problems.first?.message == "the file ends before its last element does", "\(cut)")
    }
  }

  @Test(arguments: [
    ("<plist></plist>", "the property list is empty"),
    ("<plist version=\"1.0\">\n</plist>\n", "the property list is empty"),
    ("<plist/>\n<!-- none -->", "the property list is empty"),
    ("<plist><dict><key>a</key></dict></plist >", "line 1: Value missing for key inside <dict>"),
    ("<dict><key>a</key></dict>", "line 1: Value missing for key inside <dict>"),
    ("<plst><dict/></plst>\n", "line 1: Encountered unknown tag plst"),
    ("<plist><dict><key>Cookie</key>\n<stringsid=S3CR3T</string></dict></plist>", "line 2: Encountered an unknown tag"),
    (
      "<plist><dict><key>a</key>\n<stringhttp:/u:S3CR3T@h\n/x</string></dict></plist>",
      "line 2: Encountered an unknown tag"
    ),
    ("<plist><dict><key>a</key></dict></plist>", "line 1: Value missing for key inside <dict>"),
    (
      "<plist><dict><key>a</key>\n<string>http://h/a?b&c</string></dict></plist>",
      "line 2: Encountered unknown ampersand-escape sequence; write & as &amp;"
    ),
    ("<plist><array/></plist>\n\n<plist><array/></plist>", "line 3: the property list has ended before this"),
    ("<plist><array/></plist><!-- a --> b", "line 1: the property list has ended before this"),
  ])
  func `of a whole one it says what is wrong`(text: String, problem: String) throws {
    let read = try ReadManifest(text, as: "m.plist")
    #expect(read.entries.isEmpty && read.problems.map(\.description) == [problem])
  }

  @Test func `comments and instructions may follow it`() throws {
    let read = try ReadManifest(Self.whole + "\n<!-- end -->\n<?end?>", as: "m.plist")
    #expect(read.entries.count == 2 && read.problems.isEmpty)
  }
}

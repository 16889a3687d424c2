import Testing

@testable import System

@Suite struct FieldsTests {
  @Test(arguments: ["", "/", "a", "a/b", "/a//b/", "ä/ö\r\n/\u{1F4F7}", "a\u{301}/b"])
  func `fields are the parts between the bytes of a separator`(text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    #expect(text.fields("/") == parts)
    let all = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    #expect(text.fields("/", omittingEmpty: false) == all.map { String(Substring($0)) })
  }

  @Test func `the last of so many fields has the rest`() {
    #expect("a\nb\nc".fields("\n", most: 2) == ["a", "b\nc"])
    #expect("a\r\nb".fields("\n") == ["a\r", "b"], "not one character")
  }
}

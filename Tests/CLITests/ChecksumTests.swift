import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct ChecksumTests {
  private let right = "md5=5d41402abc4b2a76b9719d911017c592"
  private let wrong = "md5=00000000000000000000000000000000"

  @Test
  func
    `another digest fails the entry, before a filter sees a byte, in every format; what failed can be dropped again`()
    throws
  {
    let served = try TemporaryFolder()
    try "hello".write(toFile: served.file("a"), atomically: false, encoding: .utf8)
    let server = try Nginx(serving: served.path)
    let folders = try DarkroomFolders()
    let url = server.url("a")
    try folders.drop(
      "json.json", #"[{"url":"\#(url)","checksum":"\#(wrong)"},{"url":"\#(url)","checksum":"\#(right)"}]"#)
    try folders.drop("text.txt", "\(url)\n  checksum=\(wrong)\n\(url)\n  checksum=\(right)\n")
    try folders.drop("table.csv", "url,checksum\n\(url),\(wrong)\n\(url),\(right)\n")
    #expect(try folders.run().status == 1)
    for job in ["json", "text", "table"] {
      let errors = try folders.report(job).entries.map(\.error)
      // The right bytes are no picture, but that is for the filter to find out.
      #expect(errors.map(\.?.code) == ["checksum-mismatch", "not-an-image"])
      #expect(errors.first??.message.contains(wrong) == true)
      #expect(errors.first??.message.contains(right) == true)
      let failed = String(decoding: try folders.contents("\(job)/\(job).failed.jsonl"), as: UTF8.self)
      #expect(failed.contains("\"\(wrong)\""))
      #expect(failed.contains("\"\(right)\""))
    }
  }

  @Test func `what is no checksum rejects the manifest`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("a.json", #"[{"url":"http://h/","checksum":"sha256=00"}]"#)
    #expect(try folders.run().status == 65)
    #expect(try folders.report("a").state == "rejected")
  }
}

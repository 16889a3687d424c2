import Testing
import TestSupport

@testable import Model

@Suite struct PreviewStagingTests {
  @Test(arguments: [true, false])
  func `a large result has its preview beside it in staging, and none without a gallery`(writesGallery: Bool) throws {
    let pictures = try TemporaryFolder()
    try LargePicture.write(to: pictures.file("large.jpg"))
    let chains = try Chains(fileRoot: pictures.path, writesGallery: writesGallery)
    try chains.start(3, url: "large.jpg", recipe: "sepia(0.8)")
    let record = try #require(chains.ended(1).first)
    #expect(record.state == .filtered && (record.artifacts[.preview] != nil) == writesGallery)
    #expect(try chains.staged.contains("run-0001-3.preview") == writesGallery)
    #expect(record.row().derived[.preview] == (writesGallery ? "previews/\(record.entry.name).jpg" : nil))
    #expect(record.artifacts[.result]?.delivery.origin?.contains("preview") == writesGallery)
    guard writesGallery else { return }
    let delivery = try #require(record.artifacts[.preview]?.delivery)
    #expect(try chains.staging.open().holds(delivery.staged, bytes: delivery.bytes, sha256: delivery.sha256))
    chains.staging.removeFiles(of: 3)
    #expect(try !chains.staged.contains("run-0001-3.preview"))
  }
}

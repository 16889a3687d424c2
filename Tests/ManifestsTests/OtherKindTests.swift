import TestSupport
import Testing

@testable import Manifests

@Suite struct OtherKindTests {
  @Test(
    arguments: [
      ("Samples/coffee.jpg", "a JPEG picture"), ("Samples/chelsea-small.png", "a PNG picture"), ("Package.swift", nil),
      ("Samples/demo.plist", nil),
    ] as [(String, String?)])
  func `a picture is called so`(file: String, kind: String?) throws {
    #expect(try ManifestFile(path: packageRoot + "/" + file).otherKind() == kind)
  }
}

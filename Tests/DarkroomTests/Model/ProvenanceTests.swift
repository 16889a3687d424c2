import Imaging
import Testing

@testable import Model

@Suite struct ProvenanceTests {
  private static let answer = "1\nhttp://h/a\n\ndigest\n9\nd\ne\n"

  @Test(arguments: [nil, 85], [nil, answer])
  func `what is stored is read`(quality: Int?, answer: String?) throws {
    for isAdopted in [false, true] {
      for derived in [[:], [Artifact.Kind.preview: Provenance.DerivedFile(bytes: 5, sha256: "ef")]] {
        var provenance = Provenance(
          key: try .sample, source: ImageInfo(format: .gif, width: 3, height: 4, frames: 7), output: .sample)
        (provenance.quality, provenance.isAdopted) = (quality, isAdopted)
        (provenance.derived, provenance.answer) = (derived, answer)
        #expect(Provenance(text: provenance.text) == provenance)
      }
    }
  }

  @Test func `what version 0.1.0 stored is read`() throws {
    let text = """
      {"product":"ab keep 85 copyright none","source":{"format":"gif","width":3,"height":4,"frames":7},\
      "output":{"format":"jpeg","width":2,"height":3},"quality":85,"adopted":true,"preview":{"bytes":5,"sha256":"ef"}}
      \(Self.answer)
      """
    let provenance = try #require(Provenance(text: text))
    #expect(provenance.key == "ab keep 85 copyright none" && provenance.sourceSHA256 == "ab")
    #expect(provenance.source == ImageInfo(format: .gif, width: 3, height: 4, frames: 7))
    #expect(provenance.output == ImageInfo(format: .jpeg, width: 2, height: 3))
    #expect(provenance.quality == 85 && provenance.isAdopted && provenance.answer == Self.answer)
    #expect(provenance.derived == [.preview: .init(bytes: 5, sha256: "ef")])
    #expect(Provenance(text: provenance.text) == provenance)
  }

  @Test(arguments: [
    "", "{}", "{", "ab", "ab\ngif 3\njpeg 2 3\n\n\n", "ab\ngif 3 4\nwhat 2 3\n\n\n", "ab\ngif 3 4\njpeg 2 3\n",
  ])
  func `what cannot be read is none`(text: String) { #expect(Provenance(text: text) == nil) }
}

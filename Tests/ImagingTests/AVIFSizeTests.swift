import Testing

@testable import Imaging

@Suite struct AVIFSizeTests {
  @Test(
    "an AVIF that browsers would not read is an error",
    arguments: [(32_768, 1, true), (32_769, 1, false), (1, 32_769, false)])
  func largest(width: Int, height: Int, isWritten: Bool) throws {
    let fixture = try PassFixture()
    let (source, result) = (fixture.folder.file("in.png"), fixture.folder.file("out"))
    let script = """
      import sys
      from PIL import Image
      Image.new('RGB', (\(width), \(height)), (200, 100, 80)).save(sys.argv[1])
      """
    _ = try PassFixture.python(script, [source])
    guard isWritten else {
      let error = #expect(throws: ImagingError.self) {
        try fixture.pass(source, to: result, options: OutputOptions(format: .avif))
      }
      #expect(error?.code == .imageTooLarge && error?.message.hasPrefix("an AVIF's sides are at most 32768") == true)
      return
    }
    try fixture.pass(source, to: result, options: OutputOptions(format: .avif))
    _ = try PassFixture.python("import sys; from PIL import Image; Image.open(sys.argv[1]).load()", [result])
  }
}

import Foundation
import Testing

@testable import Imaging

@Suite struct OutputTests {
  @Test("a full disk is a failure of the system", arguments: ImageFormat.allCases)
  func full(_ format: ImageFormat) throws {
    let rig = try Rig()
    do {
      try rig.pass(Rig.sample("chelsea.jpg"), to: "/dev/full", options: OutputOptions(format: format))
      Issue.record("it was written")
    } catch let error as ImagingError {
      #expect(error.code == .io && error.systemError == ENOSPC)
      #expect(error.message.contains("No space left on device"))
    }
  }

  @Test("a full disk is noticed by the last bytes", arguments: ImageFormat.allCases)
  func fullAtTheEnd(_ format: ImageFormat) throws {
    let rig = try Rig()
    _ = try Rig.python("Image.new('RGB', (1, 1)).save(sys.argv[1], 'PNG')", [rig.folder.file("in")])
    #expect(throws: ImagingError.self) {
      try rig.pass(rig.folder.file("in"), to: "/dev/full", options: OutputOptions(format: format))
    }
  }

  @Test("a source that cannot be read is a failure of the system")
  func unreadable() throws {
    let rig = try Rig()
    do {
      try rig.pass(rig.folder.path, to: rig.folder.file("out"))
      Issue.record("a folder was read")
    } catch let error as ImagingError {
      #expect(error.code == .io && error.systemError == EISDIR)
    }
  }

  @Test("cancelling is seen within a few rows", arguments: ["plain", "progressive", "interlaced"])
  func cancelled(_ kind: String) throws {
    let rig = try Rig()
    let script =
      switch kind {
      case "plain": "Image.open(sys.argv[1]).save(sys.argv[2], 'JPEG')"
      case "progressive": "Image.open(sys.argv[1]).save(sys.argv[2], 'JPEG', progressive=True)"
      default: "a = np.asarray(Image.open(sys.argv[1])); open(sys.argv[2], 'wb').write(png(a.astype(int), 8, 2, True))"
      }
    _ = try Rig.python(script, [Rig.sample("chelsea-small.png"), rig.folder.file("in")])
    for last in [0, 1, 2, 5, 12] {
      var calls = 0
      do {
        try rig.pass(rig.folder.file("in"), to: rig.folder.file("out")) {
          calls += 1
          return calls > last
        }
        Issue.record("it went on")
      } catch let error as ImagingError {
        #expect(error.code == .cancelled)
        #expect(calls == last + 1)
      }
    }
  }

  @Test("descriptors stay open and none is left behind")
  func descriptors() throws {
    let rig = try Rig()
    let (input, output) = (
      open(Rig.sample("chelsea.jpg"), O_RDONLY), open(rig.folder.file("out"), O_RDWR | O_CREAT, 0o600)
    )
    let pass = ImagePass(recipe: try Recipe(parsing: "invert()"))
    let first = try pass.run(from: input, to: output)
    let length = lseek(output, 0, SEEK_CUR)
    // The same again behind the first: the source is read from its beginning, the destination written where it is.
    #expect(try pass.run(from: input, to: output) == first)
    #expect(lseek(output, 0, SEEK_CUR) == 2 * length)
    #expect(close(input) == 0 && close(output) == 0)
    let bytes = try Rig.bytes(rig.folder.file("out"))
    #expect(bytes.prefix(Int(length)) == bytes.suffix(Int(length)))
  }

  @Test("formats have names and extensions")
  func formats() {
    #expect(ImageFormat.allCases.map(\.fileExtension) == ["jpg", "png", "webp"])
    #expect(ImageFormat.sniffed(from: [0xFF, 0xD8, 0xFF, 0xE0]) == .jpeg)
    #expect(ImageFormat.sniffed(from: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) == .png)
    #expect(ImageFormat.sniffed(from: []) == nil)
  }
}

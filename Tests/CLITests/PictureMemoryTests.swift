import Foundation
import TestSupport
import Testing

/// The memory of the program itself while it filters a picture row by row.
@Suite(.blocking) struct PictureMemoryTests {
  /// Rows of the picture. `DARKROOM_TEST_ROWS=20000` makes it as large as was promised, which takes a debug build some
  /// minutes.
  private static let rows = ProcessInfo.processInfo.environment["DARKROOM_TEST_ROWS"].flatMap(Int.init) ?? 300

  @Test(.disabled(if: Sanitizer.isAny, "a sanitizer needs memory of its own"))
  func `a PNG of 20 000 columns takes less than 100 MiB, no more for many rows than for a few`() throws {
    let few = try peakKilobytes(rows: 20)
    let many = try peakKilobytes(rows: Self.rows)
    #expect(many < 100 << 10)
    // Held whole it would take 80 000 bytes a row.
    #expect(many < few + 8 << 10, "\(few) KiB, then \(many) KiB")
  }

  /// The most memory that a run over a PNG of some rows had at a time, as the kernel counted it (wait4(2)).
  private func peakKilobytes(rows: Int) throws -> Int {
    let folders = try DarkroomFolders()
    try folders.drop("large.txt", "large.png")
    let arguments = [
      "run", "--file-root", folders.folder.path, "--max-pixels", "400M", "--settle", "0", "--lock-wait", "0",
    ]
    let printed = try TestPython.run(
      """
      import os, struct, sys, zlib
      folder, rows, program = sys.argv[1], int(sys.argv[2]), sys.argv[3]

      def chunk(name, data):
          return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))

      row, packer = b'\\0' + (bytes(range(256)) * 235)[:60000], zlib.compressobj(1)
      with open(folder + '/large.png', 'wb') as file:
          file.write(b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 20000, rows, 8, 2, 0, 0, 0)))
          for _ in range(rows):
              if part := packer.compress(row):
                  file.write(chunk(b'IDAT', part))
          file.write(chunk(b'IDAT', packer.flush()) + chunk(b'IEND', b''))
      os.chdir(folder)
      child = os.posix_spawn(program, [program, *sys.argv[4:]], {},
                             file_actions=[(os.POSIX_SPAWN_OPEN, 1, '/dev/null', os.O_WRONLY, 0)])
      _, status, usage = os.wait4(child, 0)
      assert os.waitstatus_to_exitcode(status) == 0, status
      print(usage.ru_maxrss)
      """, [folders.folder.path, "\(rows)", DarkroomProcess.path] + arguments)
    #expect(folders.exists("large/images/large.png"))
    return try #require(Int(String(decoding: printed, as: UTF8.self).trimmingCharacters(in: .newlines)))
  }
}

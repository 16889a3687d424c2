import Glibc
import System

/// Writes lines into many files by turns. Holds about `limit` bytes of them, and opens one file at a time.
struct ShardLines {
  private let folder: OpenFolder
  private let name: String
  private let mode: mode_t
  private var waiting: [[UInt8]]
  private var size = 0

  static let limit = 32 << 20

  /// - Parameters:
  ///   - folder: Has a folder for each number, in which the file is.
  ///   - mode: That of the files, less the umask.
  init(_ folder: OpenFolder, name: String, count: Int, mode: mode_t) {
    (self.folder, self.name, self.mode) = (folder, name, mode)
    waiting = Array(repeating: [], count: count)
  }

  mutating func append(_ line: String, to number: Int) throws {
    waiting[number].append(contentsOf: line.utf8)
    waiting[number].append(UInt8(ascii: "\n"))
    size += line.utf8.count + 1
    if size >= Self.limit { try flush() }
  }

  /// Writes what was held, and syncs all files and their folders.
  mutating func finish() throws {
    try flush()
    for number in waiting.indices {
      let shard = try folder.folder("\(number)")
      try shard.open(appending: name, mode: mode).sync()
      try shard.sync()
    }
  }

  private mutating func flush() throws {
    for number in waiting.indices where !waiting[number].isEmpty {
      let file = try folder.folder("\(number)").open(appending: name, mode: mode)
      try waiting[number].withUnsafeBytes { try file.write($0) }
      waiting[number].removeAll(keepingCapacity: false)
    }
    size = 0
  }
}

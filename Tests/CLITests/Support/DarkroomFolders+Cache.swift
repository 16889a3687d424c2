import Foundation
import TestSupport

extension DarkroomFolders {
  /// The files of the download cache that hold sources.
  func cachedSources() throws -> [String] {
    let cache = outbox + "/.darkroom/cache"
    guard FileManager.default.fileExists(atPath: cache) else { return [] }
    return try FileManager.default.subpathsOfDirectory(atPath: cache).filter { $0.hasPrefix($0.prefix(2) + "/") }
  }
}

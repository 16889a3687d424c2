import System

/// Checks whether files can be written, which distinguishes a failing disk from one failing file.
enum WriteProbe {
  static let name = ".probe"

  /// Writes and syncs a small file in each of some folders, and removes it.
  /// - Parameter folders: Each by a path beneath a folder, on which no symbolic link is followed.
  /// - Returns: Why that is not possible; nil when it is.
  static func failure(in folders: [(root: String, path: String)]) -> SystemError? {
    for (root, path) in folders {
      do throws(SystemError) {
        let folder = try OpenFolder(root).folder(path)
        try folder.remove(name)
        let file = try folder.create(file: name, mode: 0o600)
        try file.write("x")
        try file.sync()
        try folder.remove(name)
      } catch {
        return error
      }
    }
    return nil
  }
}

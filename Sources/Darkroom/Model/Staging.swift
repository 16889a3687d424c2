import Glibc
import System

/// The folder on the outbox's file system in which files are written before they get their final names. The names tell
/// the run and the entry, so that what a killed run left behind can be told apart.
struct Staging: Sendable {
  let folder: String
  let runID: String

  func path(_ name: String) -> String { folder + "/" + name }

  /// The name of an entry's downloaded source.
  func download(_ position: Int) -> String { "\(runID)-\(position).source" }

  /// The name of an entry's encoded result.
  func result(_ position: Int) -> String { "\(runID)-\(position).result" }

  /// The name of a file of the job itself, such as its report.
  func document(_ name: String) -> String { "\(runID)-\(name)" }

  /// Creates a file; what an earlier attempt of the same run left under the name is removed.
  func create(_ name: String) throws(SystemError) -> OpenFile {
    do {
      return try OpenFile(creating: path(name))
    } catch  where error.code == EEXIST {
      try Folder.removeFile(path(name))
      return try OpenFile(creating: path(name))
    }
  }

  /// Removes a file, if it is there and can be removed: staging is emptied at every start.
  func remove(_ name: String) { try? Folder.removeFile(path(name)) }
}

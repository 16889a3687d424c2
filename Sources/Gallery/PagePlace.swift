import Glibc
import System

/// What has the name of a page in a folder.
package enum PagePlace: Sendable, Equatable {
  /// Nothing.
  case free
  /// A page of the program.
  case ours
  /// A page of the program that is not whole, or an empty file: a power cut has come before it was on disk.
  case broken
  /// Something else, which stays.
  case foreign(FileStatus.Kind)

  /// The name of every page.
  package static let name = "index.html"

  /// - Parameter path: Relative to the folder. Default: the name in it.
  /// - Throws: `SystemError` when it cannot be examined.
  package init(in folder: OpenFolder, _ path: String = name) throws(SystemError) {
    let file: OpenFile
    do throws(SystemError) {
      guard let kind = try folder.status(of: path)?.kind else {
        self = .free
        return
      }
      guard kind == .file else {
        self = .foreign(kind)
        return
      }
      file = try folder.open(reading: path)
      let (size, start) = (try file.status().size, try file.readStart(Self.startSize))
      // After a power cut some file systems have zeros.
      if start.allSatisfy({ $0 == 0 }) {
        self = .broken
      } else if start.firstRange(of: Array(PageTemplate.marker.utf8)) == nil {
        self = .foreign(.file)
      } else {
        self = try Self.isWhole(file, size) ? .ours : .broken
      }
    } catch  where error.cause == .missing || error.cause == .occupied {
      self = .free
    } catch  where error.cause == .permission {
      self = .foreign(.file)
    }
  }

  private static let startSize = 256

  private static func isWhole(_ file: OpenFile, _ size: Int) throws(SystemError) -> Bool {
    let end = Array(PageTemplate.end.utf8)
    guard size > end.count else { return false }
    return try file.bytes(end.count, at: size - end.count) == end
  }

  /// Whether there is no page to keep.
  var isVacant: Bool { self == .free || self == .broken }

  /// What is in the way, in words; nil when nothing is.
  var obstacle: String? {
    switch self {
    case .free, .ours, .broken: nil
    case .foreign(.file): "a file that is not darkroom's"
    case .foreign(.link): "a symbolic link"
    case .foreign(let kind): "a \(kind)"
    }
  }
}

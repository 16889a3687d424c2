import System

/// The file that has the name of a page in a folder.
package enum ExistingPage: Sendable, Equatable {
  /// No file.
  case free
  /// A page of this program.
  case ours
  /// An incomplete page of this program or an empty file, as after a power cut.
  case broken
  /// Another file, which is left as it is.
  case foreign(FileStatus.Kind)

  /// The name of every page.
  package static let name = "index.html"

  /// - Parameter path: The path relative to the folder. Default: the name of every page.
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
      // After a power cut some file systems return zeros.
      if start.allSatisfy({ $0 == 0 }) {
        self = .broken
      } else if start.firstRange(ofBytes: PageTemplate.marker) == nil {
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

  /// Whether a page must be written.
  var isVacant: Bool { self == .free || self == .broken }

  /// A description of the other file; nil when there is none.
  package var obstacle: String? {
    switch self {
    case .free, .ours, .broken: nil
    case .foreign(.file): "a file that is not darkroom's"
    case .foreign(.link): "a symbolic link"
    case .foreign(let kind): "a \(kind)"
    }
  }
}

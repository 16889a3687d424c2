import Glibc
import System

/// A pattern for the paths of files: components in the syntax of `fnmatch` (`*`, `?`, `[…]`), and `**` for any number of folders.
/// Case is ignored.
package struct PathPattern: Sendable, Equatable {
  private enum Component: Sendable, Equatable {
    case anyFolders
    /// In lower case.
    case name(String)
  }

  private let components: [Component]

  /// The components that may come next, as indices. It has the state after a folder,
  /// so that a walk of a tree compares each name once.
  package struct Position: Sendable, Equatable {
    fileprivate var next: [Int]

    /// Whether something beneath the folder may match.
    package var isOpen: Bool { !next.isEmpty }
  }

  /// - Parameter components: The last one is for the name of a file; `**` there stands for any file in any folder.
  package init(_ components: [String]) {
    self.components = (components.last == "**" ? components + ["*"] : components).map {
      $0 == "**" ? .anyFolders : .name($0.lowercased())
    }
  }

  /// Whether a text is more than a name.
  package static func isPattern(_ text: some StringProtocol) -> Bool { text.utf8.contains(where: "*?[".utf8.contains) }

  /// Where the pattern begins.
  package var start: Position { Position(next: [0]) }

  /// The position after a folder.
  package func position(after folder: String, from position: Position) -> Position {
    var next: [Int] = []
    visit(position) { index, component in
      let reached =
        switch component {
        case .anyFolders: index
        case .name(let pattern): Self.matches(folder, pattern) ? index + 1 : -1
        }
      // Nothing beneath a folder that the whole pattern matches does so.
      if reached >= 0, reached < components.count, !next.contains(reached) { next.append(reached) }
    }
    return Position(next: next)
  }

  /// Whether a name in the folder of a position matches the whole pattern.
  package func includes(_ name: String, at position: Position) -> Bool {
    var isIncluded = false
    visit(position) { index, component in
      guard index == components.count - 1, case .name(let pattern) = component else { return }
      isIncluded = isIncluded || Self.matches(name, pattern)
    }
    return isIncluded
  }

  /// Calls a function with the components that may come next. `**` may stand for no folder at all.
  private func visit(_ position: Position, _ body: (Int, Component) -> Void) {
    for first in position.next {
      var index = first
      while index < components.count {
        body(index, components[index])
        guard case .anyFolders = components[index] else { break }
        index += 1
      }
    }
  }

  private static func matches(_ name: String, _ pattern: String) -> Bool {
    ProcessLocale.setUTF8
    return fnmatch(pattern, name.lowercased(), 0) == 0
  }
}

import System
import Darkroom

extension String {
  /// The text with control characters escaped, so that a name cannot forge a line or control the terminal.
  var visible: String { FileName(self).description }

  /// The text, filled with spaces up to a width.
  func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

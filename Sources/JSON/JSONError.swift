/// Why a text is not a JSON value that can be kept.
package struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Code: Sendable {
    /// The text is empty.
    case empty
    /// It breaks the grammar (RFC 8259).
    case syntax
    /// An object has a key twice.
    case duplicateKey
    /// It is not UTF-8.
    case encoding
    /// Arrays and objects are nested deeper than `JSONDocument.depthLimit`.
    case tooDeep
    /// A number would have to be rounded.
    case numberTooLarge
  }

  /// Where in the text.
  package enum Place: Sendable, Equatable {
    /// Both from 1; the column counts code points.
    case line(Int, column: Int)
    /// Keys, and positions like `[2]`, from the outside in.
    case keyPath([String])
  }

  package let code: Code
  package let message: String
  package let place: Place

  package init(_ code: Code, _ message: String, at place: Place) {
    self.code = code
    self.message = message
    self.place = place
  }

  package var description: String {
    switch place {
    case .line(let line, let column): "line \(line), column \(column): \(message)"
    case .keyPath(let path): "\(path.joined(separator: ".").replacing(".[", with: "[")): \(message)"
    }
  }
}

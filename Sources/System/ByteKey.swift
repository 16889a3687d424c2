/// A path or a name as a key: two are the same if their bytes are. Strings are also equal if they spell é in different ways.
package struct ByteKey: Sendable, Hashable, Comparable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (a: ByteKey, b: ByteKey) -> Bool { a.text.isIdentical(to: b.text) }

  package static func < (a: ByteKey, b: ByteKey) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }

  package func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

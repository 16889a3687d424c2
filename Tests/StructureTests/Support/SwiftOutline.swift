/// The types that a Swift file declares, the names of types that it references, and the modules that it imports.
///
/// Names are read without types being checked. A name after a dot belongs to what stands before the dot; members that are
/// not types, free functions and protocols' associated types in conforming types are not followed.
struct SwiftOutline: Sendable {
  struct Declaration: Hashable, Sendable {
    /// The type's name after those of the types around it. A function or another block counts as a type with a
    /// number for a name.
    let path: [String]
    /// `private` or `fileprivate`, or within such a type or a block, or a generic parameter of a function.
    let isFilePrivate: Bool
  }

  struct Reference: Hashable, Sendable {
    /// The types and blocks around it, outermost first.
    let scope: [String]
    /// `["Outer", "Inner"]` for `Outer.Inner.member`.
    let names: [String]
  }

  private(set) var declarations: Set<Declaration> = []
  private(set) var references: Set<Reference> = []
  private(set) var imports: Set<String> = []

  private let tokens: [SwiftToken]
  private var position = 0
  private var scope: [String] = []
  /// How many names of `scope` are outside of each block that is open.
  private var outerCounts: [Int] = []
  /// The names of a type whose block has not begun.
  private var header: [String] = []
  private var blocks = 0

  private static let typeKeywords: Set<String> = ["actor", "class", "enum", "protocol", "struct"]
  private static let aliasKeywords: Set<String> = ["associatedtype", "typealias"]
  private static let importKinds = typeKeywords.union(["func", "let", "typealias", "var"])
  private static let functionKeywords: Set<String> = ["func", "init", "subscript"]
  private static let modifiers: Set<String> = [
    "fileprivate", "final", "indirect", "internal", "nonisolated", "open", "package", "private", "public",
  ]

  init(_ source: String) {
    tokens = SwiftLexer.tokens(of: source)
    while let token = peek() { read(token) }
  }

  private mutating func read(_ token: SwiftToken) {
    switch token {
    case .symbol("{"): openBlock()
    case .symbol("}"): closeBlock()
    case .symbol, .literal: position += 1
    case .word where peek(-1) == .symbol("."): position += 1
    case .word("import"): readImport()
    case .word("extension"):
      position += 1
      header = typeNames()
    case .word(let word) where Self.functionKeywords.contains(word): readFunctionStart()
    case .word(let word) where peek(1)?.typeName != nil && Self.typeKeywords.contains(word): readType()
    case .word(let word) where peek(1)?.typeName != nil && Self.aliasKeywords.contains(word): readAlias()
    case .word:
      let names = typeNames()
      if names.isEmpty {
        position += 1
      } else {
        references.insert(Reference(scope: scope + header, names: names))
        position += 2 * names.count - 1
      }
    }
  }

  // MARK: Blocks

  private mutating func openBlock() {
    position += 1
    outerCounts.append(scope.count)
    blocks += 1
    scope += header.isEmpty ? [String(blocks)] : header
    header = []
  }

  private mutating func closeBlock() {
    position += 1
    if let count = outerCounts.popLast() { scope.removeLast(scope.count - count) }
  }

  // MARK: Declarations

  private mutating func readType() {
    let isFilePrivate = hasPrivateModifier
    guard let name = peek(1)?.typeName else { return }
    position += 2
    header = [name]
    declare([name], isFilePrivate: isFilePrivate)
    for parameter in genericParameters() { declare([name, parameter], isFilePrivate: isFilePrivate) }
  }

  private mutating func readAlias() {
    let isFilePrivate = hasPrivateModifier
    guard let name = peek(1)?.typeName else { return }
    position += 2
    declare([name], isFilePrivate: isFilePrivate)
    for parameter in genericParameters() { declare([parameter], isFilePrivate: true) }
  }

  private mutating func readFunctionStart() {
    position += peek() == .word("func") ? 2 : 1
    while peek() == .symbol("?") || peek() == .symbol("!") { position += 1 }
    for parameter in genericParameters() { declare([parameter], isFilePrivate: true) }
  }

  private mutating func declare(_ names: [String], isFilePrivate: Bool) {
    let isAroundFilePrivate = scope.indices.contains { index in
      Int(scope[index]) != nil || declarations.contains(Declaration(path: Array(scope[...index]), isFilePrivate: true))
    }
    declarations.insert(Declaration(path: scope + names, isFilePrivate: isFilePrivate || isAroundFilePrivate))
  }

  /// Whether the declaration that begins here is for its file only.
  private var hasPrivateModifier: Bool {
    var distance = 1
    while case .word(let word)? = peek(-distance), Self.modifiers.contains(word) {
      if word == "private" || word == "fileprivate" { return true }
      distance += 1
    }
    return false
  }

  /// The names of the parameters in the angle brackets that begin here. The tokens stay, since constraints reference types.
  private func genericParameters() -> [String] {
    guard peek() == .symbol("<") else { return [] }
    var names: [String] = []
    var depth = 0
    var isNameNext = false
    for token in tokens[position...] {
      switch token {
      case .symbol("<"):
        depth += 1
        isNameNext = depth == 1
      case .symbol(">"):
        depth -= 1
        if depth == 0 { return names }
      case .symbol(","): isNameNext = depth == 1
      case .symbol("{"), .symbol("}"): return []
      default:
        guard isNameNext, let name = token.typeName else { continue }
        names.append(name)
        isNameNext = false
      }
    }
    return []
  }

  // MARK: Names

  private mutating func readImport() {
    position += 1
    if case .word(let kind)? = peek(), Self.importKinds.contains(kind) { position += 1 }
    guard case .word(let module)? = peek() else { return }
    imports.insert(module)
    position += 1
    while peek() == .symbol("."), peek(1)?.isWord == true { position += 2 }
  }

  /// The names of types, joined by dots, that begin here.
  private func typeNames() -> [String] {
    guard let first = peek()?.typeName else { return [] }
    var names = [first]
    while peek(2 * names.count - 1) == .symbol("."), let name = peek(2 * names.count)?.typeName { names.append(name) }
    return names
  }

  /// The token at a distance from the one that is read now.
  private func peek(_ distance: Int = 0) -> SwiftToken? {
    tokens.indices.contains(position + distance) ? tokens[position + distance] : nil
  }
}

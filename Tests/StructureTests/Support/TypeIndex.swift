/// The types that a module's files declare, and where.
struct TypeIndex {
  /// A type that a reference stands for, and the files that declare it: several when it depends on the platform.
  struct Match: Hashable {
    let type: String
    let files: Set<String>
  }

  private let module: String
  private var shared: [[String]: Set<String>] = [:]
  private var filePrivate: [String: Set<[String]>] = [:]

  init(module: String, files: [SourceFile]) {
    self.module = module
    for file in files {
      for declaration in file.outline.declarations {
        if declaration.isFilePrivate {
          filePrivate[file.path, default: []].insert(declaration.path)
        } else {
          shared[declaration.path, default: []].insert(file.path)
        }
      }
    }
  }

  /// What a reference in a file stands for: the name is looked up in the scopes around it, innermost first, as the
  /// compiler does, and the names after it within it. `Outer.Inner` stands for both types. Types of other modules have
  /// no match.
  func matches(of reference: SwiftOutline.Reference, in file: String) -> [Match] {
    for depth in (0...reference.scope.count).reversed() {
      let scope = Array(reference.scope.prefix(depth))
      var names = reference.names[...]
      var path = scope + names.prefix(1)
      if depth == 0, names.first == module, files(declaring: path, seenFrom: file) == nil {
        names.removeFirst()
        path = Array(names.prefix(1))
      }
      var matches: [Match] = []
      while !names.isEmpty, let files = files(declaring: path, seenFrom: file) {
        matches.append(Match(type: path.joined(separator: "."), files: files))
        names.removeFirst()
        path += names.prefix(1)
      }
      if !matches.isEmpty { return matches }
    }
    return []
  }

  private func files(declaring path: [String], seenFrom file: String) -> Set<String>? {
    filePrivate[file]?.contains(path) == true ? [file] : shared[path]
  }
}

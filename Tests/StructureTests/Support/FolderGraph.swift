/// Which folders of a module use types of which.
///
/// The files directly in the module wire its folders: together they count as a folder with the module's name, which may
/// use every other and is used by none. A folder that uses a type of theirs makes a cycle.
struct FolderGraph {
  /// A file of one folder that names a type of another.
  struct Use: Hashable {
    let type: String
    /// Relative to the module's folder, as is `usingFile`.
    let declaringFile: String
    let usingFile: String
  }

  let module: String
  let folders: [String]
  /// By the folder that uses and the folder that declares.
  private var uses: [String: [String: Set<Use>]] = [:]

  init(module: String, files: [SourceFile]) {
    self.module = module
    folders = Set(files.map { $0.folder ?? module }).sorted()
    let folderOfFile = Dictionary(uniqueKeysWithValues: files.map { ($0.path, $0.folder ?? module) })
    let index = TypeIndex(module: module, files: files)
    for file in files {
      let folder = file.folder ?? module
      for match in file.outline.references.flatMap({ index.matches(of: $0, in: file.path) }) {
        let declaring = match.files.compactMap { path in folderOfFile[path].map { (path, $0) } }
        guard !declaring.contains(where: { $0.1 == folder }) else { continue }
        for (path, other) in declaring {
          let use = Use(type: match.type, declaringFile: path, usingFile: file.path)
          uses[folder, default: [:]][other, default: []].insert(use)
        }
      }
    }
  }

  // MARK: Cycles

  /// A shortest cycle through each folder that is in one. It begins with the first of its folders by name, which is
  /// not repeated at its end.
  var cycles: [[String]] {
    var cycles: [[String]] = []
    for cycle in folders.compactMap(shortestCycle) {
      let first = cycle.indices.min { cycle[$0] < cycle[$1] } ?? 0
      let rotated = Array(cycle[first...] + cycle[..<first])
      if !cycles.contains(rotated) { cycles.append(rotated) }
    }
    return cycles
  }

  /// Breadth first, so that the first way back is a shortest one.
  private func shortestCycle(through start: String) -> [String]? {
    var paths = [[start]]
    var seen: Set<String> = []
    while !paths.isEmpty {
      let path = paths.removeFirst()
      for next in usedFolders(by: path.last ?? start) {
        if next == start { return path }
        if seen.insert(next).inserted { paths.append(path + [next]) }
      }
    }
    return nil
  }

  private func usedFolders(by folder: String) -> [String] {
    folder == module ? folders.filter { $0 != module } : (uses[folder] ?? [:]).keys.sorted()
  }

  // MARK: Text

  /// A cycle as one line, `A → B → A`, and the types behind each of its dependencies.
  func description(of cycle: [String]) -> String {
    let ends = cycle.dropFirst() + cycle.prefix(1)
    let dependencies = zip(cycle, ends).map { description(ofDependencyOf: $0, on: $1) }
    return ([(cycle + cycle.prefix(1)).joined(separator: " → ")] + dependencies).joined(separator: "\n")
  }

  /// All cycles and all dependencies of the module, with the types behind them.
  var report: String {
    var lines = [module + (cycles.isEmpty ? ": no cycles" : ": cycles")]
    lines += cycles.map { "  " + ($0 + $0.prefix(1)).joined(separator: " → ") }
    lines.append(module + ": dependencies")
    for folder in folders {
      for other in (uses[folder] ?? [:]).keys.sorted() {
        lines.append(description(ofDependencyOf: folder, on: other))
      }
    }
    return lines.joined(separator: "\n")
  }

  private func description(ofDependencyOf folder: String, on other: String) -> String {
    let byType = Dictionary(grouping: uses[folder]?[other] ?? []) { "\($0.type) (\($0.declaringFile))" }
    let types = byType.sorted { $0.key < $1.key }.map { type, uses in
      "    \(type) in \(uses.map(\.usingFile).sorted().joined(separator: ", "))"
    }
    let note = folder == module ? ": files directly in \(module) may use every folder" : ""
    return (["  \(folder) → \(other)\(note)"] + types).joined(separator: "\n")
  }
}

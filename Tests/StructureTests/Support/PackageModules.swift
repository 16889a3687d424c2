import Foundation

/// The modules that `Package.swift` declares beside tests, and what each depends on.
struct PackageModules {
  /// By module.
  let dependencies: [String: [String]]

  /// Reads the text of a manifest whose targets name their dependencies in a literal list.
  init(manifest: String) {
    let lines = manifest.split(separator: "\n").filter { !$0.trimmingPrefix(while: \.isWhitespace).hasPrefix("//") }
    let text = lines.joined(separator: "\n")
    let target =
      /\.(?:target|executableTarget|systemLibrary)\(\s*name:\s*"([^"]+)"(?:,\s*dependencies:\s*\[([^\]]*)\])?/
    dependencies = Dictionary(
      text.matches(of: target).map { match in
        (String(match.1), (match.2 ?? "").matches(of: /"([^"]+)"/).map { String($0.1) })
      },
      uniquingKeysWith: +)
  }

  /// A line for each dependency that is in no lower layer, and for each of the modules that is in no layer. The layers
  /// are listed from above; below them all are C modules, whose names begin with a C and another capital letter.
  func violations(of layers: [[String]], in modules: [String]) -> [String] {
    func layer(of module: String) -> Int? {
      layers.firstIndex { $0.contains(module) } ?? (module.starts(with: /C[A-Z]/) ? layers.count : nil)
    }
    return modules.flatMap { module -> [String] in
      guard let own = layer(of: module) else { return ["\(module) is in no layer"] }
      return (dependencies[module] ?? []).filter { (layer(of: $0) ?? 0) <= own }.map {
        "\(module) depends on \($0), which is in no lower layer"
      }
    }
  }
}

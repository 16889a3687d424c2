import Foundation
import TestSupport
import Testing

/// The modules of the package, and the folders of each, depend on one another in one direction.
///
/// `DARKROOM_TEST_REPORT=1 script/test --filter StructureTests` prints which folders use which types of which others.
@Suite struct StructureTests {
  /// A module depends on modules of lower layers only. C modules are below all of them.
  static let layers = [
    ["DarkroomCLI"],
    ["Darkroom"],
    ["Imaging", "Transfer", "Ledger", "Manifests", "Scheduling", "Sandbox"],
    ["System", "JSON", "Database"],
  ]

  /// Modules whose folders still use one another in cycles. The test fails when one of them has no cycles any more,
  /// so that it is taken out of the list.
  static let modulesWithCycles: Set<String> = []

  static let sources = packageRoot + "/Sources"
  static let modules = (try? FileManager.default.contentsOfDirectory(atPath: sources).sorted()) ?? []

  private static let files = Result {
    try Dictionary(uniqueKeysWithValues: modules.map { ($0, try SourceFile.files(in: sources + "/" + $0)) })
  }

  private static let packageModules = Result {
    PackageModules(manifest: try String(contentsOfFile: packageRoot + "/Package.swift", encoding: .utf8))
  }

  @Test(arguments: modules)
  func `folders of a module have no dependency cycle`(module: String) throws {
    let graph = FolderGraph(module: module, files: try Self.files.get()[module] ?? [])
    if ProcessInfo.processInfo.environment["DARKROOM_TEST_REPORT"] != nil, !graph.folders.isEmpty {
      print(graph.report)
    }
    let cycles = graph.cycles
    if Self.modulesWithCycles.contains(module) {
      #expect(!cycles.isEmpty, "\(module) has no cycles any more: remove it from modulesWithCycles")
    } else {
      #expect(cycles.isEmpty, "\(module):\n\(cycles.map(graph.description(of:)).joined(separator: "\n"))")
    }
  }

  @Test func `modules depend on lower layers only`() throws {
    try #require(!Self.modules.isEmpty)
    #expect(try Self.packageModules.get().violations(of: Self.layers, in: Self.modules) == [])
  }

  /// A module that another target has built is found by the compiler even when the importing target does not name it.
  @Test(arguments: modules)
  func `a module imports only what Package.swift says`(module: String) throws {
    let dependencies = try #require(try Self.packageModules.get().dependencies[module])
    let imports = try Self.files.get()[module, default: []].flatMap(\.outline.imports)
    #expect(Set(imports).intersection(Self.modules).subtracting(dependencies).sorted() == [])
  }
}

import Foundation
import Testing
import TestSupport

/// The modules depend on one another in one direction.
@Suite struct StructureTests {
  /// A module depends on modules of lower levels only. C modules are below all of them.
  static let levels = [
    ["DarkroomProgram"],
    ["DarkroomCLI"],
    ["Darkroom"],
    ["Planning", "Operations", "Delivery"],
    ["Inbox", "JobIndex", "Gallery"],
    ["Model"],
    ["Imaging", "Transfer", "Ledger", "Manifests", "Scheduling", "Sandbox"],
    ["JSON", "Database"],
    ["System"],
  ]

  /// What each module of `Package.swift` depends on.
  private static let dependencies = Result {
    let manifest = try String(contentsOfFile: packageRoot + "/Package.swift", encoding: .utf8)
    let target = /\.(?:target|executableTarget)\(\s*name:\s*"([^"]+)"(?:,\s*dependencies:\s*\[([^\]]*)\])?/
    return Dictionary(
      manifest.matches(of: target).map { match in
        (String(match.1), (match.2 ?? "").matches(of: /"([^"]+)"/).map { String($0.1) })
      }, uniquingKeysWith: +)
  }

  @Test(arguments: levels.indices)
  func `modules of a level depend on lower levels only`(level: Int) throws {
    let lower = Set(Self.levels[(level + 1)...].joined())
    for module in Self.levels[level] {
      let dependencies = try #require(try Self.dependencies.get()[module])
      #expect(dependencies.filter { !lower.contains($0) && !$0.starts(with: /C[A-Z]/) } == [], "\(module)")
    }
  }

  /// A module that another target has built is found by the compiler even when the importing target does not name it.
  @Test(arguments: levels.joined())
  func `a module imports only what Package.swift says`(module: String) throws {
    let folder = packageRoot + "/Sources/" + module
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }
    try #require(!files.isEmpty)
    let imports = try files.flatMap { file in
      try String(contentsOfFile: folder + "/" + file, encoding: .utf8).matches(of: /(?m)^import (\w+)$/)
        .map { String($0.1) }
    }
    let modules = Set(Self.levels.joined())
    let dependencies = try #require(try Self.dependencies.get()[module])
    #expect(Set(imports).intersection(modules).subtracting(dependencies).sorted() == [])
  }

  @Test func `every module has a level`() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: packageRoot + "/Sources")
    #expect(folders.filter { !$0.starts(with: /C[A-Z]/) }.sorted() == Self.levels.joined().sorted())
  }
}

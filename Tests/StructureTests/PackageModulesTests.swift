import Testing

@Suite struct PackageModulesTests {
  private static let layers = [["Program"], ["Left", "Right"], ["Base"]]

  @Test func `targets and their dependencies are read`() {
    let modules = PackageModules(
      manifest: """
        let package = Package(
          name: "studio",
          targets: [
            .systemLibrary(name: "CJPEG", pkgConfig: "libjpeg", providers: [.apt(["libjpeg62-turbo-dev"])]),
            .target(name: "Base", path: "Sources/Base"),
            // .target(name: "Base", dependencies: ["Left"]),
            .target(
              name: "Left",
              dependencies: [
                "Base",
                "CJPEG",
              ]
            ),
            .executableTarget(name: "Program", dependencies: ["Left", .target(name: "Base")]),
            .testTarget(name: "BaseTests", dependencies: ["Base"]),
          ])
        """)
    #expect(
      modules.dependencies == ["CJPEG": [], "Base": [], "Left": ["Base", "CJPEG"], "Program": ["Left", "Base"]])
  }

  @Test(arguments: [
    ("Program", ["Left", "Right", "Base", "CJPEG"], []),
    ("Left", ["Base"], []),
    ("CJPEG", [], []),
    ("Left", ["Right"], ["Left depends on Right, which is in no lower layer"]),
    ("Base", ["Left"], ["Base depends on Left, which is in no lower layer"]),
    ("CJPEG", ["Base"], ["CJPEG depends on Base, which is in no lower layer"]),
    ("CJPEG", ["CPNG"], ["CJPEG depends on CPNG, which is in no lower layer"]),
    ("Left", ["Unknown"], ["Left depends on Unknown, which is in no lower layer"]),
    ("Cellar", [], ["Cellar is in no layer"]),
  ])
  func `dependencies that are in no lower layer are violations`(
    module: String, dependencies: [String], violations: [String]
  ) {
    let list = dependencies.map { "\"\($0)\"" }.joined(separator: ", ")
    let modules = PackageModules(manifest: ".target(name: \"\(module)\", dependencies: [\(list)])")
    #expect(modules.violations(of: Self.layers, in: [module]) == violations)
  }
}

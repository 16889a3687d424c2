// swift-tools-version: 6.1
import PackageDescription

/// Optimises debug builds of the targets whose time goes into loops over bytes, pixels or entries. The thread sanitizer needs it
/// off (`script/sanitize` sets the variable): in optimised code it reports what a `Mutex` protects.
let optimised: [SwiftSetting] =
  Context.environment["DARKROOM_SANITIZE"] == "thread" ? [] : [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// Links Swift's libraries into the debug program, as `script/build` does with the release: tests start it thousands of times, and
/// a start takes two thirds of the processor time. Sanitizers have their own runtime.
let linkedStatically: [LinkerSetting] =
  Context.environment["DARKROOM_SANITIZE"] != nil
  ? []
  : [
    .unsafeFlags(
      [
        "-static-stdlib", "-use-ld=lld", "-Xlinker", "--no-export-dynamic", "-lstdc++", "-lCoreFoundation",
        "-l_FoundationICU", "-l_FoundationCollections", "-l_FoundationCShims",
      ], .when(configuration: .debug))
  ]

/// Modules depend on those of lower levels only, and modules of one level never import one another; `StructureTests` has the levels.
let package = Package(
  name: "darkroom",
  products: [
    .executable(name: "darkroom", targets: ["DarkroomProgram"])
  ],
  targets: [
    // C libraries from Debian, each a module map and the smallest shim that Swift cannot do without.
    .systemLibrary(name: "CCrypto", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
    .systemLibrary(name: "CJPEG", pkgConfig: "libjpeg", providers: [.apt(["libjpeg62-turbo-dev"])]),
    .systemLibrary(name: "CLCMS", pkgConfig: "lcms2", providers: [.apt(["liblcms2-dev"])]),
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
    .systemLibrary(name: "CPSL", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

    .target(name: "CLoader"),
    // libcurl, which is loaded with the first function that is called.
    .target(name: "CCurl", dependencies: ["CLoader"]),
    // giflib, which is loaded on demand: only its header is needed, and without it GIF is not read.
    .target(name: "CGIF", dependencies: ["CLoader"]),
    // libheif, libde265 and libdav1d likewise, for AVIF and HEIC.
    .target(name: "CHEIF", dependencies: ["CLoader"]),
    // libtiff likewise.
    .target(name: "CTIFF", dependencies: ["CLoader"]),
    // libdeflate, from Debian, which compresses PNG.
    .target(
      name: "CDeflate", cSettings: [.unsafeFlags(["-O2"], .when(configuration: .debug))],
      linkerSettings: [.linkedLibrary("deflate")]),
    .target(name: "CPlanes", cSettings: [.unsafeFlags(["-O2"], .when(configuration: .debug))]),
    // libseccomp, from Debian, and the calls around it.
    .target(name: "CSandbox", linkerSettings: [.linkedLibrary("seccomp")]),
    .target(name: "System", dependencies: ["CCrypto", "CLinux"], swiftSettings: optimised),
    .target(name: "JSON", dependencies: ["CJansson", "System"], swiftSettings: optimised),
    .target(name: "Database", dependencies: ["CSQLite"], swiftSettings: optimised),

    .target(
      name: "Imaging",
      dependencies: [
        "CDeflate", "CGIF", "CHEIF", "CJPEG", "CLCMS", "CPlanes", "CPNG", "CTIFF", "CWebP", "System",
      ],
      swiftSettings: optimised),
    .target(name: "Transfer", dependencies: ["CCrypto", "CCurl", "CLinux", "CPSL", "System"]),
    .target(name: "Ledger", dependencies: ["Database"], swiftSettings: optimised),
    .target(name: "Manifests", dependencies: ["CZlib", "JSON", "System"], swiftSettings: optimised),
    .target(name: "Scheduling", dependencies: ["System"], swiftSettings: optimised),
    .target(name: "Sandbox", dependencies: ["CSandbox", "System"]),

    .target(
      name: "Model",
      dependencies: [
        "Database", "Imaging", "JSON", "Ledger", "Manifests", "Scheduling", "System", "Transfer",
      ]),
    .target(
      name: "Inbox",
      dependencies: [
        "CLinux", "Manifests", "Model", "Scheduling", "System", "Transfer",
      ]),
    .target(
      name: "JobIndex",
      dependencies: [
        "Database", "Imaging", "JSON", "Ledger", "Manifests", "Model", "Scheduling", "System", "Transfer",
      ]),
    .target(
      name: "Gallery",
      dependencies: [
        "JSON", "Ledger", "Model", "System",
      ],
      resources: ["job.html", "outbox.html", "page.css", "page.js"].map { .embedInCode($0) }),
    .target(
      name: "Planning",
      dependencies: [
        "Imaging", "Inbox", "JSON", "JobIndex", "Ledger", "Manifests", "Model", "Scheduling", "System", "Transfer",
      ]),
    .target(
      name: "Operations",
      dependencies: [
        "Database", "Imaging", "Ledger", "Model", "Sandbox", "Scheduling", "System", "Transfer",
      ]),
    .target(
      name: "Delivery",
      dependencies: [
        "CLinux", "Database", "Gallery", "JSON", "JobIndex", "Ledger", "Manifests", "Model", "Scheduling", "System",
        "Transfer",
      ]),

    .target(
      name: "Darkroom",
      dependencies: [
        "Database", "Delivery", "Gallery", "Imaging", "Inbox", "JSON", "JobIndex", "Ledger", "Manifests", "Model",
        "Operations", "Planning", "Sandbox", "Scheduling", "System", "Transfer",
      ]),
    .target(
      name: "DarkroomCLI",
      dependencies: [
        "Darkroom", "Database", "Imaging", "Inbox", "JSON", "JobIndex", "Ledger", "Manifests", "Model", "Operations",
        "Planning", "System", "Transfer",
      ],
      // The manual's keys of reports and events are those of the schemas.
      resources: [.embedInCode("report.schema.json"), .embedInCode("events.schema.json")]),
    .executableTarget(name: "DarkroomProgram", dependencies: ["DarkroomCLI"], linkerSettings: linkedStatically),

    // What the tests share: temporary folders, loopback servers, Python tools.
    .systemLibrary(name: "CSpawn", path: "Tests/CSpawn"),
    .target(name: "TestSupport", dependencies: ["CSpawn", "CZlib"], path: "Tests/TestSupport"),
    // A decoding worker that does what a hijacked one would try.
    .executableTarget(name: "HostileWorker", dependencies: ["Operations"], path: "Tests/HostileWorker"),
    .testTarget(name: "SystemTests", dependencies: ["System", "TestSupport"]),
    .testTarget(name: "JSONTests", dependencies: ["JSON"]),
    .testTarget(name: "DatabaseTests", dependencies: ["Database", "TestSupport"]),
    .testTarget(name: "ManifestsTests", dependencies: ["Manifests", "TestSupport"]),
    .testTarget(name: "SchedulingTests", dependencies: ["Scheduling", "TestSupport"], swiftSettings: optimised),
    .testTarget(
      name: "ImagingTests", dependencies: ["CPlanes", "CWebP", "Imaging", "TestSupport"], exclude: ["Goldens"],
      swiftSettings: optimised),
    .testTarget(name: "TransferTests", dependencies: ["Transfer", "TestSupport"]),
    .testTarget(name: "LedgerTests", dependencies: ["Ledger", "TestSupport"]),
    .testTarget(name: "SandboxTests", dependencies: ["Sandbox", "TestSupport"]),
    .testTarget(name: "DarkroomTests", dependencies: ["Darkroom", "HostileWorker", "TestSupport"]),
    .testTarget(name: "StructureTests", dependencies: ["TestSupport"]),
    .testTarget(name: "CLITests", dependencies: ["DarkroomCLI", "TestSupport"], exclude: ["Snapshots"]),
  ],
  swiftLanguageModes: [.v6]
)

// Fuzzers need libFuzzer, so only script/fuzz builds them.
if Context.environment["DARKROOM_FUZZ"] != nil {
  package.targets.append(.systemLibrary(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"))
  package.targets += ["ManifestFuzz", "NameFuzz", "PictureFuzz", "RecipeFuzz"].map {
    .executableTarget(
      name: $0, dependencies: ["CFuzzer", "Imaging", "JobIndex", "Manifests", "Planning"], path: "Tests/Fuzz/" + $0)
  }
}

// For script/sanitize, which builds the tests of some modules only: the names of test targets, separated by spaces.
if let chosen = Context.environment["DARKROOM_TEST_TARGETS"]?.split(separator: " ").map(String.init) {
  package.targets.removeAll { $0.type == .test && !chosen.contains($0.name) }
}

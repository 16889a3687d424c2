// swift-tools-version: 6.1
import PackageDescription

/// `DarkroomCLI → Darkroom → {Imaging, Transfer, Ledger} → C*`. The three leaf modules never import one another.
let package = Package(
  name: "darkroom",
  products: [
    .executable(name: "darkroom", targets: ["DarkroomCLI"])
  ],
  targets: [
    // C libraries from Debian, each a module map and the smallest shim that Swift cannot do without.
    .systemLibrary(name: "CCrypto", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
    .systemLibrary(name: "CJPEG", pkgConfig: "libjpeg", providers: [.apt(["libjpeg62-turbo-dev"])]),
    .systemLibrary(name: "CLCMS", pkgConfig: "lcms2", providers: [.apt(["liblcms2-dev"])]),
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

    .target(name: "CPlanes"),
    .target(name: "Imaging", dependencies: ["CJPEG", "CLCMS", "CPlanes", "CPNG", "CWebP"]),
    .target(name: "Transfer", dependencies: ["CCrypto", "CCurl", "CLinux"]),
    .target(name: "Ledger", dependencies: ["CSQLite"]),
    .target(name: "Darkroom", dependencies: ["Imaging", "Transfer", "Ledger", "CJansson", "CLinux", "CZlib"]),
    .executableTarget(name: "DarkroomCLI", dependencies: ["Darkroom", "Imaging", "Ledger", "Transfer"]),

    // What the tests share: temporary folders, loopback servers, Python tools.
    .target(name: "TestSupport", dependencies: ["CZlib"], path: "Tests/TestSupport"),
    .testTarget(name: "ImagingTests", dependencies: ["Imaging", "TestSupport"], exclude: ["Goldens"]),
    .testTarget(name: "TransferTests", dependencies: ["Transfer", "TestSupport"]),
    .testTarget(name: "LedgerTests", dependencies: ["Ledger", "TestSupport"]),
    .testTarget(name: "DarkroomTests", dependencies: ["Darkroom", "TestSupport"]),
    .testTarget(name: "CLITests", dependencies: ["DarkroomCLI", "TestSupport"], exclude: ["Snapshots"]),
  ],
  swiftLanguageModes: [.v6]
)

// Fuzzers need libFuzzer, so only script/fuzz builds them.
if Context.environment["DARKROOM_FUZZ"] != nil {
  package.targets.append(.systemLibrary(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"))
  package.targets += ["ManifestFuzz", "NameFuzz", "PictureFuzz", "RecipeFuzz"].map {
    .executableTarget(name: $0, dependencies: ["CFuzzer", "Darkroom", "Imaging"], path: "Tests/Fuzz/" + $0)
  }
}

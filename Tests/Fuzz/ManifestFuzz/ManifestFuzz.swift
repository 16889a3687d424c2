import CFuzzer
import Foundation
import Imaging

@testable import Manifests
@testable import Planning

/// One manifest: the first byte picks the format and whether it is packed, the rest is the file. It ends in entries or
/// problems, and in nothing else.
func readManifest(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let bytes, count > 0 else { return 0 }
  let formats = ManifestFormats.all
  let choice = Int(bytes[0])
  let file = UnsafeRawBufferPointer(start: bytes + 1, count: count - 1)
  do {
    try Data(file).write(to: URL(fileURLWithPath: scratchFile))
    let manifest = ManifestFile(path: scratchFile, isCompressed: choice / formats.count % 2 == 1)
    var reader = EntryReader(defaults: EntryDefaults(recipe: try Recipe(parsing: "none"), options: OutputOptions()))
    try formats[choice % formats.count].read(manifest, .entries) { item in
      switch item {
      case .defaults(let value, let location): reader.readDefaults(value, at: location)
      case .entry(let value, let key, let location): _ = reader.read(value, key: key, position: 0, at: location)
      case .source(let value, let location): _ = reader.read(value, key: nil, position: 0, at: location)
      case .warning(let warning): precondition(!warning.message.isEmpty)
      case .unreadable(let problems):
        precondition(!problems.all.isEmpty && problems.all.count <= DelimitedHeader.columnLimit + 1)
      }
    }
  } catch is ManifestProblem {
  } catch {
    fatalError("\(error)")
  }
  return 0
}

@main
enum ManifestFuzz {
  static func main() {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    exit(LLVMFuzzerRunDriver(&count, &arguments, readManifest))
  }
}

private let scratchFile = NSTemporaryDirectory() + "/darkroom-fuzz-\(ProcessInfo.processInfo.processIdentifier)"

import CFuzzer
import Foundation

@testable import JobIndex

/// One name, or one URL that a name is taken from. What comes of it stays below its folder on every file system, and
/// is itself when it is given as a name.
func makeName(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let text = String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
  for name in [OutputName.explicit(text).path, OutputName.derived(fromURL: text)] {
    for component in name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      precondition(!component.isEmpty && component.first != UInt8(ascii: "."), "\(name.debugDescription)")
      precondition(component.count <= OutputName.lengthLimit, "\(name.debugDescription)")
      precondition(!component.contains { $0 < 0x20 || $0 == 0x7f }, "\(name.debugDescription)")
      precondition(!component.contains { "<>:\"|?*\\".utf8.contains($0) }, "\(name.debugDescription)")
      precondition(
        component.last != UInt8(ascii: ".") && component.last != UInt8(ascii: " "), "\(name.debugDescription)")
    }
    let again = OutputName.explicit(name).path
    precondition(again.utf8.elementsEqual(name.utf8), "\(name.debugDescription) became \(again.debugDescription)")
    let claim = OutputName.claim(name)
    precondition(OutputName.claim(claim).utf8.elementsEqual(claim.utf8), "the claim of \(name.debugDescription)")
  }
  return 0
}

@main
enum NameFuzz {
  static func main() {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    exit(LLVMFuzzerRunDriver(&count, &arguments, makeName))
  }
}

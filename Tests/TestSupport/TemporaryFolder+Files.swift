import Foundation

extension TemporaryFolder {
  /// Writes a file and returns its path.
  @discardableResult
  package func write(_ text: String, as name: String) throws -> String {
    try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
    return file(name)
  }

  /// What a file holds; nil when it cannot be read. Unless it is not there standard error gets to know why.
  package func text(_ name: String) -> String? {
    do {
      return try String(contentsOfFile: file(name), encoding: .utf8)
    } catch CocoaError.fileReadNoSuchFile {
      return nil
    } catch {
      FileHandle.standardError.write(Data("\(file(name)): \(error)\n".utf8))
      return nil
    }
  }

  /// Makes a folder and returns its path.
  @discardableResult
  package func makeFolder(_ name: String) throws -> String {
    try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: true)
    return file(name)
  }

  package func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: file(name), withDestinationPath: target)
  }

  /// The names in it, sorted.
  package func names(in folder: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: file(folder)).sorted()
  }
}

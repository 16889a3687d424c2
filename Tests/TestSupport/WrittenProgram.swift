import Foundation

extension TemporaryFolder {
  /// Writes a program that is then run. Children that start meanwhile, also those of the code under test, have what this process has
  /// open until their programs begin, and a file that somebody may write cannot be run (`ETXTBSY`): their end is awaited.
  /// - Returns: Its path.
  package func writeProgram(_ text: String, as name: String) throws -> String {
    let path = try write(text, as: name)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    let file = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    // A lease for reading is refused while the file is open for writing.
    let setLease: Int32 = 1024  // F_SETLEASE
    _ = eventually({ fcntl(file, setLease, F_RDLCK) }, is: { $0 == 0 })
    return path
  }
}

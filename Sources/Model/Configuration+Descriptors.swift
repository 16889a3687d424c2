extension Configuration {
  /// How many descriptors there are for each live job, and for each filtration: each has a few, and the others are for downloads and
  /// results. Without any, not even libdispatch can go on.
  package static let descriptorsPerJob = 16

  /// Lowers the numbers of jobs and of filtrations to what the descriptors suffice for.
  /// - Parameter descriptors: How many the process may have.
  /// - Returns: What was lowered, a sentence each.
  package mutating func limit(byDescriptors descriptors: Int) -> [String] {
    let most = max(1, descriptors / Self.descriptorsPerJob)
    func lower(_ number: inout Int, of option: String) -> String? {
      guard number > most else { return nil }
      defer { number = most }
      return
        "\(option) is lowered from \(number) to \(most): at most \(descriptors) files may be open (ulimit -Hn, LimitNOFILE)"
    }
    return [lower(&jobs, of: "--jobs"), lower(&filtrations, of: "--filtrations")].compactMap { $0 }
  }
}

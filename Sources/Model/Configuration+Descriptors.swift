extension Configuration {
  /// How many descriptors there are for each live job, and for each filtration: each has a few, and the others are for downloads and
  /// results. Without any, not even libdispatch can go on.
  package static let descriptorsPerJob = 16

  /// Lowers the numbers of jobs and of filtrations to what the descriptors suffice for.
  /// - Parameter descriptors: How many the process may have.
  /// - Returns: What was lowered, a sentence each, unless it was a default.
  package mutating func limit(byDescriptors descriptors: Int) -> [String] {
    let most = max(1, descriptors / Self.descriptorsPerJob)
    func lower(_ number: inout Int, of option: String, usual: Int) -> String? {
      guard number > most else { return nil }
      defer { number = most }
      return number == usual
        ? nil
        : "\(option) is lowered from \(number) to \(most): at most \(descriptors) files may be open (ulimit -Hn, LimitNOFILE)"
    }
    return [
      lower(&jobs, of: "--jobs", usual: Self.usualJobs),
      lower(&filtrations, of: "--filtrations", usual: usualFiltrations),
    ].compactMap { $0 }
  }
}

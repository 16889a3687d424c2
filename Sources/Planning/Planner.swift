import Imaging
import JobIndex
import JSON
import Manifests
import Model
import Transfer

/// Reads a manifest into an index. Everything is checked before any work begins.
package struct Planner {
  /// The most problems that are reported.
  static let problemLimit = ManifestProblem.reportLimit

  package var content: ManifestContent
  let defaults: EntryDefaults

  /// - Parameter list: The list that was downloaded from the manifest's source. Default: nil, none yet.
  package init(
    format: any ManifestFormat, file: ManifestFile, list: ManifestContent.List? = nil, defaults: EntryDefaults
  ) {
    content = ManifestContent(format: format, file: file, list: list)
    self.defaults = defaults
  }

  /// Fills the index. Dependencies are checked unless there is an entry whose name is unknown.
  /// - Parameters:
  ///   - lastNames: Called before names are settled, if some are derived. It inserts the names of the job's last run.
  ///     Default: there are none.
  ///   - checkSpace: Called from time to time. An error that it throws ends the planning.
  /// - Returns: The problems and warnings of the manifest.
  /// - Throws: `SystemError`, `SQLiteError`; `CancellationError` soon after `isCancelled` returns true.
  package func plan(
    into index: JobIndex, isCancelled: () -> Bool = { false }, lastNames: () throws -> Void = {},
    checkSpace: () throws -> Void = {}
  ) throws -> ManifestFindings {
    var filling = IndexFilling(index: index, reader: EntryReader(defaults: defaults))
    var dependencies = DependencyProblems()
    var keys = SharedKeys()
    func read(_ body: (ManifestItem) throws -> Void) throws {
      try content.read(.entries) { item in
        if isCancelled() { throw CancellationError() }
        try body(item)
      }
    }
    do {
      try index.fill {
        try read { item in
          if filling.line & 4095 == 4095 { try checkSpace() }
          try filling.add(item)
        }
        if filling.reader.problems.isEmpty || index.hasDependencies && !filling.lacksNames {
          if index.hasDerivedNames { try lastNames() }
          filling.clashes.renamed = try index.settleNames()
        }
      }
      if filling.reader.problems.isEmpty { keys = try SharedKeys(of: index) }
      if index.hasDependencies, !filling.lacksNames { dependencies = try DependencyProblems(of: index) }
    } catch let problem as ManifestProblem {
      filling.reader.report(problem)
    } catch is EnoughProblems {}
    var findings = filling.findings
    findings.problems = Array(filling.reader.problems.prefix(Self.problemLimit))
    findings.hasSecretDefaults =
      filling.reader.hasSecretDefaults || findings.warnings.contains(where: \.concernsSecrets)
    if !findings.problems.isEmpty { (filling.clashes.renamed, keys) = ([], SharedKeys()) }
    try filling.clashes.complete(&findings, read: read)
    try keys.complete(&findings, read: read)
    try dependencies.complete(&findings, read: read)
    findings.problems = findings.problems.map(\.redacted)
    findings.warnings = findings.warnings.prefix(ManifestWarning.reportLimit).map(\.redacted)
    return findings
  }

  /// Ends reading when the limit of problems is reached.
  fileprivate struct EnoughProblems: Error {}
}

/// Fills an index with the items of a manifest, in their order.
private struct IndexFilling {
  let index: JobIndex
  var reader: EntryReader
  var findings = ManifestFindings()
  var clashes = NameClashes()

  /// The position of the next row, and the number of the next line.
  var position = 0
  var line = 0

  /// Whether there is an entry with a problem whose name is therefore unknown.
  var lacksNames = false

  mutating func add(_ item: ManifestItem) throws {
    switch item {
    case .defaults(let value, let location): reader.readDefaults(value, at: location)
    case .entry(let value, let key, let location):
      let rows = position..<position + value.rowCount
      var entry = reader.read(value, key: key, position: position, at: location)
      if line != position { entry?.line = line }
      for row in entry?.rows(reader.variants) ?? [] { try index.insert(row) }
      if !reader.after.isEmpty { for row in rows { try index.insert(after: reader.after, of: row) } }
      lacksNames = lacksNames || entry == nil && reader.givenName == nil
      // Names of entries with problems are claimed too, so that all clashes are reported.
      if let name = reader.givenName { try claim(name, value["name"]?.string ?? key ?? name.path, rows, at: location) }
      (position, line) = (rows.upperBound, line + 1)
    case .source(let value, let location):
      findings.source = readSource(value, at: location)
      if let source = findings.source { try index.insert(source) }
    case .warning(let warning): findings.warnings.append(warning)
    case .unreadable(let problems):
      for problem in problems.all { reader.report(problem) }
      lacksNames = true
      (position, line) = (position + 1, line + 1)
    }
    if reader.problems.count >= Planner.problemLimit { throw Planner.EnoughProblems() }
  }

  /// Claims the names of an entry's results, and reports those that other entries have claimed.
  /// - Parameter written: The entry's name as written.
  private mutating func claim(
    _ name: OutputName, _ written: String, _ rows: Range<Int>, at location: ManifestProblem.Location
  ) throws {
    if let holder = try index.claim(name.claim, for: rows.lowerBound) {
      reader.report(clashes.add(written, holder: holder, problem: reader.problems.count, at: location))
    }
    guard name.replacedClaim == nil else { return }
    for (row, variant) in zip(rows, reader.variants) {
      let output = Entry.name(name.path, variant.name)
      guard let holder = try index.claim(OutputName.claim(output), for: row), !rows.contains(holder) else { continue }
      reader.report(clashes.add(output, holder: holder, problem: reader.problems.count, at: location))
    }
  }

  /// Reads the source of the list of entries. It is downloaded like an entry's source, and not filtered.
  /// - Returns: nil when it has a problem.
  private mutating func readSource(_ value: JSONValue, at location: ManifestProblem.Location) -> Entry? {
    var source = EntryReader(defaults: EntryDefaults(recipe: .none, options: OutputOptions()))
    var entry = source.read(value, key: "source", position: 0, at: location)
    let urls = entry?.urls.map(FolderLocation.path(of:)) ?? []
    entry?.urls = urls
    if let entry, entry.checksum != nil, entry.urls.contains(where: { FolderLocation(parsing: $0) != nil }) {
      reader.report(ManifestProblem(.badValue, "a folder has no checksum", at: location.field("checksum")))
    }
    if urls.count > 1, let folder = urls.lazy.compactMap(FolderLocation.init).first {
      let message = "\(folder.redacted) is a folder, and cannot be one of several mirrors"
      reader.report(ManifestProblem(.badValue, message, at: location.field("source")))
    }
    for problem in source.problems {
      let isOfURL = problem.location == location.field("url")
      reader.report(
        ManifestProblem(problem.code, problem.message, at: isOfURL ? location.field("source") : problem.location))
    }
    return entry
  }
}

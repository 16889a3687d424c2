import Imaging
import JobIndex
import JSON
import Manifests
import Model
import System
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
    var filling = IndexFilling(index: index, reader: EntryReader(defaults: defaults, base: content.list?.base))
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
          filling.clashes.renamed = try index.settleNames(isCancelled: isCancelled)
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
    if !findings.problems.isEmpty {
      (filling.clashes.renamed, keys) = ([], SharedKeys())
    } else {
      findings.warnings += [filling.changedNames, filling.mistakenMetadata].compactMap { $0 }
    }
    try filling.clashes.complete(&findings, read: read)
    try keys.complete(&findings, read: read)
    try dependencies.complete(&findings, read: read)
    findings.problems = findings.problems.map(\.redacted)
    findings.warnings = findings.warnings.prefix(ManifestWarning.reportLimit).map(\.redacted)
    return findings
  }

  /// Calls `body` with the items of the manifest and of its list, in order.
  package func eachItem(_ body: (ManifestItem) throws -> Void) throws { try content.read(.entries, body) }

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

  /// The first given name that other systems cannot store, and the number of such names.
  var changedName: (first: ManifestProblem.Location, count: Int)?

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
      if let name = reader.givenName {
        try claim(name, value["name"]?.string ?? key ?? name.path, rows, at: location)
        if name.replacedClaim != nil { changedName = (changedName?.first ?? location, (changedName?.count ?? 0) + 1) }
      }
      (position, line) = (rows.upperBound, line + 1)
    case .source(let value, let location):
      (findings.source, findings.folder) = readSource(value, at: location)
      if let source = findings.source { try index.insert(source) }
    case .warning(let warning): findings.warnings.append(warning)
    case .unreadable(let problems):
      for problem in problems.all { reader.report(problem) }
      lacksNames = true
      (position, line) = (position + 1, line + 1)
    }
    if reader.problems.count >= Planner.problemLimit { throw Planner.EnoughProblems() }
  }

  /// The warning that given names are changed. The text is the same each night for a list that changes, so that cron mails it once.
  var changedNames: ManifestWarning? {
    changedName.map { first, count in
      let message =
        count == 1
        ? "other systems cannot store this name: parts of it become \"_\""
        : "other systems cannot store this name and others: parts of them become \"_\""
      return ManifestWarning(.nameChanged, message, at: first)
    }
  }

  /// The warning about `metadata` that looks like a setting.
  var mistakenMetadata: ManifestWarning? {
    reader.mistakenMetadata.map { location, value in
      let message = "this is copied to the report; what pictures keep of their metadata is set by --metadata \(value)"
      return ManifestWarning(.metadataPolicy, message, at: location)
    }
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

  /// Reads the source of the list of entries. It is downloaded like an entry's source, and not filtered; or it is a folder.
  /// - Returns: nil when it has a problem.
  private mutating func readSource(
    _ value: JSONValue, at location: ManifestProblem.Location
  ) -> (source: Entry?, folder: FolderSource?) {
    var source = EntryReader(defaults: EntryDefaults(recipe: .none, options: OutputOptions()))
    var entry = source.read(value.without(FolderSource.othersField), key: "source", position: 0, at: location)
    var folder: FolderSource?
    func report(_ field: String, _ message: String) {
      reader.report(ManifestProblem(.badValue, message, at: location.field(field)))
    }
    do throws(ParseError) {
      folder = try entry.flatMap { entry throws(ParseError) in try FolderSource(parsing: entry.urls) }
    } catch {
      report("source", error.message)
    }
    let urls = entry?.urls.map(FolderSource.path) ?? []
    entry?.urls = urls
    if folder != nil, entry?.checksum != nil { report("checksum", "a folder has no checksum") }
    switch (value[FolderSource.othersField], folder) {
    case (nil, _): break
    case (_?, nil): if entry != nil { report(FolderSource.othersField, "\"others\" is for folders and patterns") }
    case (let written?, _?):
      if let others = written.string.flatMap(FolderSource.Others.init) {
        folder?.others = others
      } else {
        report(FolderSource.othersField, "\"others\" is \"skip\" or \"fail\", not \(written.shown)")
      }
    }
    for problem in source.problems {
      let isOfURL = problem.location == location.field("url")
      reader.report(
        ManifestProblem(problem.code, problem.message, at: isOfURL ? location.field("source") : problem.location))
    }
    return (entry, folder)
  }
}

extension FolderSource {
  /// The field beside `source` that sets `others`.
  static let othersField = "others"
}

extension JSONValue {
  /// An object without a member.
  fileprivate func without(_ key: String) -> JSONValue {
    guard case .object(let members) = self else { return self }
    return .object(members.filter { $0.key != key })
  }
}

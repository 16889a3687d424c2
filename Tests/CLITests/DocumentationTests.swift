import Foundation
import Imaging
import Manifests
import Testing
import TestSupport
import Transfer

@testable import Model
@testable import Planning

/// What the documentation says is what the program does.
@Suite("The documentation", .blocking)
struct DocumentationTests {
  static let manifests = ((try? Documentation.pages.flatMap(Documentation.blocks)) ?? []).filter {
    $0.manifest != nil
  }

  @Test("shows manifests that run as they stand and packed, and rejected ones that are rejected")
  func manifestsThatRun() throws {
    let folders = try DarkroomFolders()
    let blocks = try Self.manifests.enumerated().map { (block: $1, file: "\($0)-" + (try #require($1.manifest))) }
    for (block, file) in blocks {
      try folders.drop(file, block.localText)
      try folders.drop("packed-\(file).gz", Gzip.packed([block.localText.utf8]))
    }
    let run = try DarkroomProcess.run(["run", "--settle", "0", "--file-root", Documentation.samples] + folders.named)
    for (block, file) in blocks {
      for (name, packing) in [(file, ""), ("packed-" + file, ".gz")] {
        let job = (name as NSString).deletingPathExtension
        #expect(run.output.contains("/\(job)/report.json\n"), "\(run.error)")
        let report = try folders.report(job)
        #expect(report.state == (block.isTagged("rejected") ? "rejected" : "succeeded"), "\(block): \(report)")
        #expect(folders.exists("\(job)/manifest.\((file as NSString).pathExtension)\(packing)"), "\(block)")
      }
    }
  }

  @Test("shows configuration files that the program takes")
  func configurations() throws {
    let blocks = try ["options", "hosts"].flatMap { try Documentation.blocks(of: "Documentation/\($0).md") }
    let configurations = blocks.filter { $0.isTagged("config") }
    #expect(configurations.count >= 2)
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.file("inbox"), withIntermediateDirectories: false)
    for block in blocks {
      guard let file = block.file else { continue }
      try block.text.write(toFile: folder.file(file), atomically: false, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.file(file))
    }
    for block in configurations {
      try block.text.write(toFile: folder.file("config.json"), atomically: false, encoding: .utf8)
      let run = try DarkroomProcess.run(
        ["run", "--config", "config.json"], in: folder, environment: ["PICTURES_TOKEN": "a"])
      #expect(run.status == 0 && !run.error.contains("warning"), "\(run.error)")
    }
  }

  @Test("shows a manifest in every format that the inbox takes")
  func formats() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.file("inbox"), withIntermediateDirectories: false)
    try Data().write(to: URL(fileURLWithPath: folder.file("inbox/a.unheard-of")))
    let told = try DarkroomProcess.run(["run"], in: folder).error
    let extensions = Set(told.matches(of: /[ ]\.([a-z]+)/).map { String($0.1) })
    #expect(!extensions.isEmpty)
    // Each of the manifests is run packed, too.
    #expect(extensions.contains("gz"))
    let shown = Set(Self.manifests.compactMap { $0.manifest.map { ($0 as NSString).pathExtension } })
    #expect(shown == extensions.subtracting(["gz"]))
  }

  @Test("has the tables of options that their definitions make")
  func options() throws {
    try expectRecorded(OptionsPage.updated(), at: OptionsPage.path)
  }

  @Test("lists the commands and exit codes of the help, and no others")
  func commands() throws {
    let help = try DarkroomCommand.run(["help"], in: TemporaryFolder()).output
    let page = try Documentation.text("Documentation/options.md")
    let commands = try #require(help.firstRange(of: "\nThe commands")).upperBound
    let end = try #require(help.firstRange(of: "\noptions of all")).lowerBound
    let offered = help[commands..<end].matches(of: /\n  ([a-z]+)/).map { String($0.1) }
    #expect(page.matches(of: /\n\| `([a-z]+)[ `]/).map { String($0.1) } == offered)
    let codes = help.matches(of: /\n  ([0-9]+)\ /).map { String($0.1) }
    #expect(page.matches(of: /\n\| ([0-9]+) \|/).map { String($0.1) } == codes)
    #expect(codes.count >= 10)
  }

  @Test("lists the filters that there are, and no others")
  func filters() throws {
    let listed = try DarkroomCommand.run(["filters"], in: TemporaryFolder()).output
    let names = Set(listed.matches(of: /(?:^|\n)([a-z-]+)\(/).map { String($0.1) + "()" })
    let documented = try Documentation.firstColumns(of: "Documentation/recipes.md").joined()
      .filter { $0.hasSuffix("()") }
    #expect(!names.isEmpty)
    #expect(Set(documented) == names)
  }

  @Test("explains every error code of the schema, and no others")
  func codes() throws {
    let schema = try ReportSchema()
    let page = try Documentation.text("Documentation/report.md")
    let manifests = try #require(page.firstRange(of: "## Error codes of manifests")).lowerBound
    let entries = try #require(page.firstRange(of: "## Error codes of entries")).lowerBound
    let end = try #require(page.firstRange(of: "## JOB.failed.jsonl")).lowerBound
    #expect(rows(page[entries..<manifests]) == schema.entryErrorCodes)
    #expect(rows(page[manifests..<end]) == schema.manifestErrorCodes)
    #expect(
      cells(page[entries..<manifests])
        == Dictionary(
          uniqueKeysWithValues: FailureCode.all.map { ($0.text, [$0.explanation.cause, $0.explanation.remedy]) }))
    #expect(
      cells(page[manifests..<end])
        == Dictionary(
          uniqueKeysWithValues: ManifestProblem.Code.allCases.map { ($0.rawValue, [$0.cause, $0.remedy]) }))
  }

  /// Causes and remedies by code, without links.
  private func cells(_ section: Substring) -> [String: [String]] {
    let rows = section.matches(of: /\n\| `([a-z-]+)` \| ([^\n]*) \| ([^\n]*) \|(?=\n)/)
    return Dictionary(
      uniqueKeysWithValues: rows.map { row in
        (
          String(row.1),
          [row.2, row.3].map { cell in
            String(cell).replacing(/\[([^\]]*)\]\([^)]*\)/) { link in String(link.output.1) }
          }
        )
      })
  }

  @Test("lists the fields of entries, and no others")
  func fields() throws {
    let page = try Documentation.text("Documentation/manifests.md")
    let table = try #require(page.firstMatch(of: /\n## Fields\n\n\| field .*?\n\n/.dotMatchesNewlines())).output
    let fields = table.matches(of: /\n\| `([a-z-]+)`/).map { String($0.1) }
    #expect(Set(fields) == Set(EntryField.all.map(\.name)) && fields.count == EntryField.all.count)
  }

  private func rows(_ section: Substring) -> Set<String> {
    Set(section.matches(of: /\n\| `([a-z-]+)`/).map { String($0.1) })
  }

  @Test("explains every key of the schema")
  func keys() throws {
    let page = try Documentation.text("Documentation/report.md")
    let keys = try ReportSchema().keys
    #expect(keys.count > 40)
    // Keys with an obvious meaning are explained by their neighbours or by the example.
    #expect(keys.filter { !page.contains("`\($0)`") && !page.contains("\"\($0)\":") } == [])
  }

  @Test("has a schema that knows every code of the program")
  func programCodes() throws {
    let codes = Set(ImagingError.Code.allCases.map(\.rawValue)).union(TransferError.Code.allCases.map(\.rawValue))
    #expect(codes.subtracting(["cancelled"]).isSubset(of: try ReportSchema().entryErrorCodes))
  }

  @Test("has each heading once, so that no link is ambiguous", arguments: Documentation.pages)
  func headings(_ page: String) throws {
    let prose = try Documentation.text(page).replacing(/```.*?\n```/.dotMatchesNewlines(), with: "")
    let headings = prose.matches(of: /\n#+ ([^\n]*)/).map(\.1)
    #expect(Dictionary(grouping: headings, by: \.self).filter { $0.value.count > 1 }.keys.sorted() == [])
  }

  @Test("has links and paths that lead somewhere", arguments: Documentation.pages)
  func links(_ page: String) throws {
    let text = try Documentation.text(page)
    let folder = packageRoot + "/" + (page as NSString).deletingLastPathComponent
    var paths = text.matches(of: /\]\(([^)#:]+)(?:#[^)]*)?\)/).map { folder + "/" + $0.1 }
    paths += text.matches(of: /`((?:Sources|Tests|script|Documentation)\/[A-Za-z\/+.]+)`/).map {
      packageRoot + "/" + $0.1
    }
    // What the guide tells to add is not there.
    let missing = paths.filter { !FileManager.default.fileExists(atPath: $0) }
    let examples = ["Posterise", "NewManifest", "NewCommand"].map { "/\($0).swift" }
    #expect(missing.filter { path in !examples.contains(where: path.hasSuffix) } == [])
    for link in text.matches(of: /\]\(([^)#:]*)#([^)]+)\)/) {
      let target = link.1.isEmpty ? page : (page as NSString).deletingLastPathComponent + "/" + link.1
      #expect(try Documentation.anchors(of: target).contains(String(link.2)), "\(link.0)")
    }
  }
}

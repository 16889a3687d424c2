import Foundation
import Imaging
import Manifests
import Testing
import TestSupport

@testable import DarkroomCLI
@testable import Model
@testable import Planning

/// The pages of the manual that `darkroom help man` prints.
@Suite(.blocking) struct ManualTests {
  /// What a pipeline of the shell prints of a page.
  private func printed(_ page: String, through pipeline: String) throws -> String {
    let folder = try TemporaryFolder()
    try folder.write(DarkroomCommand.run(["help", "man", page]).output, as: "page")
    let run = try DarkroomProcess.run(script: "<page " + pipeline, in: folder)
    #expect(run.status == 0 && run.error.isEmpty, "\(run.output)\(run.error)")
    return run.output
  }

  /// A page as mandoc shows it, without overstriking, in lines of any length.
  private func shown(_ page: String) throws -> String {
    try printed(page, through: "mandoc -T ascii -O width=1000 | sed 's/.\\x08//g'")
  }

  /// Expects that lines of the page begin with these terms.
  private func expect(
    _ terms: some Sequence<String>, in page: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let lines = try shown(page).split(separator: "\n").map { $0.drop { $0 == " " } }
    let missing = terms.filter { term in !lines.contains { $0 == term || $0.hasPrefix(term + " ") } }
    #expect(missing == [], sourceLocation: sourceLocation)
  }

  @Test(arguments: Manual.names)
  func `mandoc has nothing to say of a page`(page: String) throws {
    #expect(try printed(page, through: "mandoc -T lint -W warning") == "")
  }

  @Test(arguments: Manual.names)
  func `a page is plain ASCII, and has the name of its file`(page: String) throws {
    let text = try DarkroomCommand.run(["help", "man", page]).output
    #expect(text.utf8.count == text.unicodeScalars.count)
    let section = page == "darkroom" ? "1" : "5"
    #expect(text.contains("\n.Dt \(page.uppercased()) \(section)\n"))
    #expect(try DarkroomCommand.run(["help", "man", page + "." + section]).output == text)
  }

  @Test func `the first page has every command, option, key of a rule and exit code`() throws {
    try expect(CommandTable.all.map { "darkroom " + $0.name + " [option ...]" }, in: "darkroom")
    try expect(OptionTable.all.map(\.usage), in: "darkroom")
    try expect(["-h, --help", "--version"], in: "darkroom")
    try expect(HostRuleReader.keys.map { "\"\($0.name)\"" }, in: "darkroom")
    try expect(ExitCode.allCases.map { String($0.rawValue) }, in: "darkroom")
    try expect(CommandTable.all.flatMap(\.examples), in: "darkroom")
  }

  @Test func `the page of manifests has every format, field, filter and code`() throws {
    try expect(
      ManifestFormats.all.map { $0.extensions.map { "." + $0 }.joined(separator: ", ") }, in: "darkroom-manifest")
    try expect(EntryField.all.map(\.name), in: "darkroom-manifest")
    try expect(FilterRegistry.all.map { "\($0.name)(\($0.syntax))" }, in: "darkroom-manifest")
    try expect(ManifestProblem.Code.allCases.map(\.rawValue), in: "darkroom-manifest")
  }

  @Test func `the page of reports has every key and code`() throws {
    let schema = try ReportSchema()
    try expect(FailureCode.all.map(\.text), in: "darkroom-report")
    #expect(Set(FailureCode.all.map(\.text)) == schema.entryErrorCodes)
    let paths = SchemaKeys.report.all.map(\.path)
    let keys = paths.flatMap { $0.replacing("[]", with: "").split(separator: ".").map(String.init) }
    #expect(schema.keys.subtracting(keys) == [])
    try expect(paths, in: "darkroom-report")
  }

  @Test func `the page of events has every event, with its keys`() throws {
    let kinds = SchemaKeys.events.kinds
    #expect(kinds.count > 20 && kinds.allSatisfy { !$0.meaning.isEmpty })
    #expect(kinds.first { $0.name == "job-left" }?.keys == ["job", "ended"])
    try expect(kinds.map(\.name), in: "darkroom-events")
    let keys = SchemaKeys.events.all.map(\.path).filter { $0 != "event" && $0 != "time" }
    let described = SchemaKeys.events.all.filter { $0.path.contains(".") || $0.meaning.split(separator: ".").count > 1 }
    #expect(described.count == SchemaKeys.events.all.count, "each key of an event has a description")
    try expect(keys, in: "darkroom-events")
    #expect(try DarkroomCommand.run(["help", "events"]).output.contains("Keys: job, ended."))
  }

  @Test(arguments: ManifestPage.examples.indices)
  func `its manifests are accepted`(place: Int) throws {
    let (file, lines) = ManifestPage.examples[place]
    let folder = try TemporaryFolder()
    try (lines.joined(separator: "\n") + "\n").write(toFile: folder.file(file), atomically: false, encoding: .utf8)
    let check = try DarkroomCommand.run(["check", file], in: folder)
    #expect(
      check.status == 0 && check.output.contains("2 entries") && !check.output.contains("warning"), "\(check.output)")
    #expect(try DarkroomCommand.run(["help", "manifest"]).output.contains(lines[0]))
  }
}

import Foundation
import TestSupport
import Testing

@testable import DarkroomCLI

/// `Documentation/options.md`, whose tables of options are made from `OptionTable`: one beneath the heading of each group.
enum OptionsPage {
  static let path = packageRoot + "/Documentation/options.md"

  /// The page with the tables as they should be.
  static func updated() throws -> String {
    var page = try String(contentsOfFile: path, encoding: .utf8)
    for group in OptionTable.groups {
      let heading = "\n## \(group.heading.prefix(1).uppercased())\(group.heading.dropFirst())\n\n"
      let start = try #require(page.range(of: heading), "options.md has no section \"\(group.heading)\"").upperBound
      let end = page[start...].range(of: "\n\n")?.lowerBound ?? page.endIndex
      page.replaceSubrange(start..<end, with: table(of: group.options))
    }
    return page
  }

  private static func table(of options: [DarkroomCLI.Option]) -> String {
    let head = "| option | default | commands | meaning |\n| --- | --- | --- | --- |"
    return ([head] + options.map(row)).joined(separator: "\n")
  }

  private static func row(of option: DarkroomCLI.Option) -> String {
    let standard =
      switch option.defaultValue {
      case .value(let text): "`\(text)`"
      case .words(let text): text
      case nil: option.valueName == nil ? "off" : "none"
      }
    let commands = option.commands.map { $0.map { "`\($0)`" }.joined(separator: ", ") } ?? "all"
    let usage = option.usage.replacing("|", with: "\\|")
    return "| `\(usage)` | \(standard) | \(commands) | \(option.summary) |"
  }
}

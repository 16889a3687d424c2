import Foundation
import TestSupport
import Testing

/// The pages of the documentation, read for what can be tested in them.
enum Documentation {
  /// The pages, relative to the package's root.
  static let pages = [
    "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "inbox/README.md", "outbox/README.md", "Samples/CREDITS.md",
    "Documentation/architecture.md", "Documentation/comparison.md", "Documentation/durability.md",
    "Documentation/folders.md", "Documentation/gallery.md", "Documentation/hosts.md", "Documentation/inbox.md",
    "Documentation/manifests.md", "Documentation/operations.md", "Documentation/options.md",
    "Documentation/performance.md", "Documentation/recipes.md", "Documentation/report.md", "Documentation/shards.md",
    "Documentation/testing.md", "Documentation/tutorial.md", "Documentation/workers.md",
    "Documentation/decisions/README.md",
  ]

  /// The folder of pictures that examples are about.
  static let samples = packageRoot + "/Samples"

  static func text(_ page: String) throws -> String {
    try String(contentsOfFile: packageRoot + "/" + page, encoding: .utf8)
  }

  /// The code blocks of a page.
  static func blocks(of page: String) throws -> [CodeBlock] {
    var blocks: [CodeBlock] = []
    var info: [String]?
    var lines: [String] = []
    for line in try text(page).components(separatedBy: "\n") {
      if let words = info, line == "```" {
        blocks.append(CodeBlock(page: page, info: words, text: lines.map { $0 + "\n" }.joined()))
        (info, lines) = (nil, [])
      } else if info != nil {
        lines.append(line)
      } else if line.hasPrefix("```") {
        info = line.dropFirst(3).split(separator: " ").map(String.init)
      }
    }
    return blocks
  }

  /// The anchors of a page's headings, as GitHub makes them.
  static func anchors(of page: String) throws -> Set<String> {
    let headings = try text(page).matches(of: /\n#+ ([^\n]*)/).map { $0.1.lowercased().replacing(" ", with: "-") }
    return Set(headings.map { heading in heading.filter { $0.isLetter || $0.isNumber || "-_".contains($0) } })
  }

  /// What stands in the first column of a page's tables, in backquotes, one set for each row.
  static func firstColumns(of page: String) throws -> [Set<String>] {
    try text(page).components(separatedBy: "\n").filter { $0.hasPrefix("| `") }.map { row in
      let cell = row.dropFirst(2).prefix { $0 != "|" }
      return Set(cell.matches(of: /`([^`]+)`/).map { String($0.1) })
    }
  }
}

/// A fenced block of code. Words after its language are for the tests, and readers do not see them:
///
/// - `manifest=NAME.EXT`: a manifest, which has to run; with `rejected`, one that has to be rejected
/// - `report`: a report
/// - `config`: a configuration file; `file=NAME`: a file beside it
///
/// And on the pages of `PageSession`, whose blocks are run in their order:
///
/// - `run`: lines of a shell; `output`: what the block before prints, see `ShownOutput`
/// - `file=NAME`: a file that the reader saves
/// - `server=FOLDER`: the command of a server, for a folder beneath the home folder
/// - `setup`: what only the reader does
///
/// The lines of a `crontab` are run, too, and what a unit of systemd (`ini`) starts.
struct CodeBlock: Sendable, CustomTestStringConvertible {
  let page: String
  let info: [String]
  let text: String

  /// The file name of a manifest.
  var manifest: String? {
    info.first { $0.hasPrefix("manifest=") }.map { String($0.dropFirst("manifest=".count)) }
  }

  /// The name of a file that configurations name, or that the reader saves.
  var file: String? {
    info.first { $0.hasPrefix("file=") }.map { String($0.dropFirst("file=".count)) }
  }

  /// The folder that a server serves.
  var server: String? {
    info.first { $0.hasPrefix("server=") }.map { String($0.dropFirst("server=".count)) }
  }

  /// The first word; nil of a block that has none, such as a picture of folders.
  var language: String? { info.first }

  /// Whether a `PageSession` runs it.
  var isRun: Bool { isTagged("run") || language == "crontab" || language == "ini" }

  func isTagged(_ word: String) -> Bool { info.dropFirst().contains(word) }

  /// The text with the server of the examples replaced by the folder of samples, as `--file-root`, and
  /// without signatures.
  var localText: String { text.replacing("https://pictures.example/", with: "").replacing(/\?expires=[^"]*/, with: "") }

  var testDescription: String { "\(page): \(info.joined(separator: " "))" }
}

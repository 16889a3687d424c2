import Foundation
import TestSupport

/// The blocks of a page, typed one after another into one shell as a reader would: in a home folder whose folder `darkroom` is
/// the source tree, as far as the pages need it.
///
/// What differs from the page is the name of the home folder (`/home/you`), the port of the page's server (8000), and that the
/// program is the one beside the tests.
struct PageSession {
  /// The pages all of whose blocks are run.
  static let pages = [
    "README.md", "Documentation/tutorial.md", "Documentation/folders.md", "Documentation/comparison.md",
    "Documentation/shards.md",
  ]

  /// A block of commands that was run.
  struct Step {
    let block: CodeBlock
    /// What the page says that it prints; nil when it says nothing.
    let shown: ShownOutput?
    /// What it printed on both streams, as the page would show it; nil when an earlier block failed.
    let printed: String?
  }

  private let blocks: [CodeBlock]
  private let home: TemporaryFolder
  private let server: PythonServer?

  /// Prepares the home folder, and starts the server if the page has one.
  init(page: String) throws {
    let (blocks, home) = (try Documentation.blocks(of: page), try TemporaryFolder())
    for folder in ["darkroom/inbox", "steps"] { try home.makeFolder(folder) }
    try home.link("darkroom/Samples", to: Documentation.samples)
    server = try blocks.compactMap(\.server).first.map { try PythonServer(Self.fileServer, [home.file($0)]) }
    (self.blocks, self.home) = (blocks, home)
  }

  /// Runs the blocks up to the first in which a command fails.
  /// - Returns: The exit code of that command, or 0.
  func run() throws -> Int32 {
    var script = "set -o pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || :' EXIT\ncd ~/darkroom\n"
    for (number, block) in blocks.enumerated() {
      guard let commands = try commands(of: block, number) else { continue }
      script += "exec >~/steps/\(number).printed 2>&1\n" + commands
    }
    script += """
      exec >~/steps/end.printed 2>&1
      if [[ -n ${service:-} ]]; then
        kill -HUP "$service"
        kill -TERM "$service"
        wait "$service"
      fi

      """
    let environment = ["HOME": home.path, "XDG_CONFIG_HOME": ""]
    return try DarkroomProcess.run(script: script, in: home, environment: environment).status
  }

  /// The blocks of commands, in the order of the page, once they have run.
  func steps() -> [Step] {
    let runs = blocks.indices.filter { blocks[$0].isRun }
    return runs.map { number in
      let next = blocks.index(after: number)
      let isShown = next < blocks.endIndex && blocks[next].isTagged("output")
      return Step(
        block: blocks[number], shown: isShown ? ShownOutput(text: blocks[next].text) : nil,
        printed: home.text("steps/\(number).printed").map(asShown))
    }
  }

  /// Lines of the shell that do what a reader does with the block; nil when that is nothing.
  private func commands(of block: CodeBlock, _ number: Int) throws -> String? {
    if block.isTagged("run") { return here(block.text) }
    if let file = block.file {
      try home.write(here(block.text), as: "steps/\(number)")
      return "mkdir -p \"$(dirname \(file))\"\ncp ~/steps/\(number) \(file)\n"
    }
    if block.language == "crontab" {
      let lines = block.text.split(separator: "\n").compactMap { $0.split(separator: " ", maxSplits: 5).last }
      try home.write(here("set -e\n" + lines.joined(separator: "\n")), as: "steps/\(number)")
      return "sh ~/steps/\(number)\n"
    }
    return block.language == "ini" ? startOfService(block) : nil
  }

  /// Starts what a unit of systemd starts, and waits until it has processed a manifest. It is ended after the last block.
  private func startOfService(_ unit: CodeBlock) -> String {
    func value(_ key: String) -> String {
      let line = unit.text.split(separator: "\n").first { $0.hasPrefix(key + "=") }
      return here(String(line?.dropFirst(key.count + 1) ?? ""))
    }
    return """
      cd "\(value("WorkingDirectory"))"
      \(value("ExecStart")) & service=$!
      echo '[]' >~/steps/started.json
      darkroom add ~/steps/started.json
      darkroom wait started

      """
  }

  /// A text of the page with the names of this session.
  private func here(_ text: String) -> String {
    text.replacing("/home/you", with: home.path).replacing("/srv/pictures", with: home.path + "/darkroom")
      .replacing("/usr/local/bin/darkroom", with: "darkroom")
      .replacing("127.0.0.1:8000", with: "127.0.0.1:\(server?.port ?? 8000)")
  }

  /// The opposite.
  private func asShown(_ text: String) -> String {
    text.replacing(home.path, with: "/home/you").replacing("127.0.0.1:\(server?.port ?? 8000)", with: "127.0.0.1:8000")
  }

  /// What `python3 -m http.server` does, on a free port.
  private static let fileServer = """
    import functools, http.server, sys

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    handler = functools.partial(Handler, directory=sys.argv[1])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    print(server.server_port, flush=True)
    server.serve_forever()
    """
}

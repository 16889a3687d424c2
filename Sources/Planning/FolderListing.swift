import Foundation
import Inbox
import JobIndex
import JSON
import Manifests
import Scheduling
import System
import Transfer

/// Lists the files that are the source of a manifest. Files that are being written are left out.
package struct FolderListing {
  package let source: FolderSource

  /// How long a file that may be being written must be unchanged, in seconds.
  package let settleTime: Double

  /// Folders beneath that are not read, such as the outbox.
  package let excluded: [FileIdentity]

  /// Whether files that are being written are waited for, and left out.
  package let waits: Bool

  package init(source: FolderSource, settleTime: Double, excluding excluded: [FileIdentity] = [], waits: Bool = true) {
    self.waits = waits
    self.source = source
    self.settleTime = settleTime
    self.excluded = excluded
  }

  /// The result of listing folders.
  package struct Result {
    /// The URLs of the files, in the order of their paths.
    package var urls: [String] = []

    /// What was left out, and why, one sentence each, at most `warningLimit`.
    package var warnings: [String] = []

    /// Whether something was left out that may be there the next time.
    package var isIncomplete = false
  }

  /// The most warnings. The last one gives the number of the other files.
  static let warningLimit = 20

  /// Lists the files. Waits up to the settling time when it is not known whether files are being written.
  /// - Parameter folders: The folders of the source's trees, open.
  /// - Throws: `SystemError`; `CancellationError` soon after `isCancelled` returns true.
  package func list(_ folders: [OpenFolder], isCancelled: @escaping () -> Bool) throws -> Result {
    var settling = Settling(time: settleTime)
    let began = Clock.monotonicSeconds
    while true {
      let now = Clock.monotonicSeconds
      var walk = FolderWalk(source: source, excluded: excluded, isCancelled: isCancelled)
      for (tree, folder) in zip(source.trees, folders) { try walk.add(tree, folder) }
      // A share that has failed must not end as an empty folder.
      if walk.files.isEmpty, let error = walk.firstError { throw error }
      let files = walk.files.sorted { $0.path.bytes.lexicographicallyPrecedes($1.path.bytes) }
      if !waits { return result(files, settled: Set(files.indices), walk) }
      settling.isOnNetwork = walk.isOnNetwork
      let settled = settling.settled(
        files.map { ($0.path, $0.identity) }, now: now, wallClock: Clock.wallSeconds
      ) { (try? files[$0].tree.open(reading: files[$0].name))?.writers ?? .unknown }
      if settled.count == files.count || now - began > settling.effectiveTime {
        return result(files, settled: Set(settled), walk)
      }
      // Waits at least as long as listing the folders takes.
      let pause = max(0.05, Clock.monotonicSeconds - now)
      for _ in 0..<Int(pause / 0.05) {
        if isCancelled() { throw CancellationError() }
        Thread.sleep(forTimeInterval: 0.05)
      }
    }
  }

  private func result(_ files: [FolderWalk.File], settled: Set<Int>, _ walk: FolderWalk) -> Result {
    var result = Result()
    result.isIncomplete = walk.isIncomplete
    var leftOut = Set(walk.unreadable).sorted()
    leftOut += Set(walk.unnamed.map(\.description)).sorted().map {
      "\($0) has a name that no manifest can have, and is left out"
    }
    if let first = walk.links.min() {
      // What they lead to may be pictures of earlier runs.
      result.isIncomplete = true
      let others = walk.links.count - 1
      leftOut.append(
        others == 0
          ? "\(first) is a symbolic link, which is not followed, and is left out"
          : "\(first) and \(others.of("other", "others")) are symbolic links, which are not followed, and are left out")
    }
    if let first = walk.special.min() {
      let others = walk.special.count - 1
      leftOut.append(
        others == 0
          ? "\(first) is no file but a pipe, a socket or a device, and is left out"
          : "\(first) and \(others.of("other", "others")) are no files but pipes, sockets or devices, and are left out")
    }
    for (index, file) in files.enumerated() {
      guard settled.contains(index) else {
        result.isIncomplete = true
        leftOut.append("\(file.path) is being written, and is left for the next time")
        continue
      }
      guard let url = file.path.text.flatMap(FolderSource.url) else {
        leftOut.append("\(file.path) has a name that no manifest can have, and is left out")
        continue
      }
      result.urls.append(url)
    }
    result.warnings = skipped(walk.others.filter { !walk.paths.contains($0.key) }.map(\.value)).map { [$0] } ?? []
    if files.isEmpty, let hint = hint(walk) { result.warnings.append(hint) }
    result.warnings += leftOut.prefix(Self.warningLimit - 1)
    if leftOut.count >= Self.warningLimit {
      result.warnings.append("\((leftOut.count - Self.warningLimit + 1).of("more is", "more are")) left out")
    }
    return result
  }

  /// Whether the manifest gives an array, to which patterns can be added.
  private var isArray: Bool { source.trees.count + source.exclusions.count > 1 }

  /// What to write instead of a source in which no pictures were found.
  private func hint(_ walk: FolderWalk) -> String? {
    if let tree = source.trees.first(where: { $0.bracePatterns != nil }), let patterns = tree.bracePatterns {
      let texts = patterns.map(JSONValue.string)
      let advice =
        isArray ? texts.map(\.text).joined(separator: ", ") + " in" : JSONValue.array(texts).text + " as"
      return "braces are not expanded in \(tree.name); write \(advice) \"source\""
    }
    guard let (tree, count) = walk.passedOver else { return nil }
    let pattern = JSONValue.string("file:" + tree.folder + (tree.name == "*" ? "**" : "**/" + tree.name)).text
    let advice = isArray ? "\(pattern) in \"source\"" : "\"source\": \(pattern)"
    return "\(count.of("folder is", "folders are")) not looked into; \(advice) takes those beneath, too"
  }

  /// - Parameter others: For each skipped file its extension, or its whole name when it has none.
  private func skipped(_ others: [String]) -> String? {
    guard !others.isEmpty else { return nil }
    let counts = Dictionary(others.map { ($0, 1) }, uniquingKeysWith: +).sorted { $0.key < $1.key }
    let named = counts.prefix(10)
    let shown = named.map { "\($0.value) \($0.key)" } + (counts.count > named.count ? ["…"] : [])
    // A pattern without a slash holds in all folders. Names with signs of patterns are not advised.
    let patterns = named.map(\.key).filter { !$0.contains { "*?[{\\".contains($0) } }
    guard !patterns.isEmpty else {
      return "\(ManifestWarning.skippedStart) \(others.count) (\(shown.joined(separator: ", ")))"
    }
    let exclusions = patterns.map { JSONValue.string(($0.hasPrefix(".") ? "!*" : "!") + $0) }
    let what = patterns.count < counts.count ? "some of them" : "them"
    let advice =
      isArray
      ? exclusions.map(\.text).joined(separator: ",") + " in \"source\""
      : "\"source\": \(JSONValue.array([.string(source.redacted)] + exclusions).text)"
    return
      "\(ManifestWarning.skippedStart) \(others.count) (\(shown.joined(separator: ", "))); "
      + "\(advice) leaves \(what) out without a warning"
  }
}

/// A walk through the trees of a source, which collects the files that are wanted. Symbolic links are not followed.
private struct FolderWalk {
  struct File {
    /// Beginning with the tree's folder.
    let path: FileName
    let identity: FileIdentity
    let tree: OpenFolder

    /// The path in the tree's folder.
    let name: String
  }

  let source: FolderSource
  let excluded: [FileIdentity]
  let isCancelled: () -> Bool

  private(set) var files: [File] = []

  /// The paths of `files`: trees may overlap.
  private(set) var paths: Set<FileName> = []

  /// The paths of files that are no pictures by name, with their extensions, or whole names without one. Another tree may want them.
  private(set) var others: [FileName: String] = [:]

  /// Whether a folder lies on a network file system.
  private(set) var isOnNetwork = false

  /// Whether a folder could not be read, or went away, so that its files may be there the next time.
  private(set) var isIncomplete = false

  private var devices: Set<UInt> = []

  /// Folders that could not be read, and why.
  private(set) var unreadable: [String] = []

  /// Why the first of these cannot be read.
  private(set) var firstError: SystemError?

  /// Folders whose names are not UTF-8.
  private(set) var unnamed: [FileName] = []

  /// The paths of symbolic links that would be wanted if they were files.
  private(set) var links: Set<String> = []

  /// The paths of pipes, sockets and devices that would be wanted if they were files.
  private(set) var special: Set<String> = []

  /// The first tree with folders that are wanted by their names, and beneath which nothing can match, and their number.
  private(set) var passedOver: (tree: FolderSource.Tree, count: Int)?

  init(source: FolderSource, excluded: [FileIdentity], isCancelled: @escaping () -> Bool) {
    (self.source, self.excluded, self.isCancelled) = (source, excluded, isCancelled)
  }

  /// A folder to read: its path in the tree's folder, empty or with a slash at its end, and what is looked for there.
  private struct Visit {
    var path: String
    var position: PathPattern.Position
    var exclusions: [PathPattern.Position]

    func entering(_ name: String, _ tree: FolderSource.Tree, _ source: FolderSource) -> Visit {
      Visit(
        path: path + name + "/", position: tree.pattern.position(after: name, from: position),
        exclusions: zip(source.exclusions, exclusions).map { $0.position(after: name, from: $1) })
    }
  }

  mutating func add(_ tree: FolderSource.Tree, _ folder: OpenFolder) throws {
    var first = Visit(path: "", position: tree.pattern.start, exclusions: source.exclusions.map(\.start))
    for name in tree.folder.fields("/") {
      if zip(source.exclusions, first.exclusions).contains(where: { $0.includes(name, at: $1) }) { return }
      first.exclusions = zip(source.exclusions, first.exclusions).map { $0.position(after: name, from: $1) }
    }
    var open = [first]
    while let visit = open.popLast() {
      if isCancelled() { throw CancellationError() }
      open += try read(visit, tree, folder)
    }
  }

  /// - Returns: The folders in it that may contain files.
  private mutating func read(_ visit: Visit, _ tree: FolderSource.Tree, _ root: OpenFolder) throws -> [Visit] {
    var beneath: [Visit] = []
    do throws(SystemError) {
      let folder = try root.folder(visit.path.dropping(bytesOfSuffix: "/"))
      let identity = try folder.status().identity
      if !visit.path.isEmpty, excluded.contains(where: identity.isSameNode) { return [] }
      if devices.insert(identity.device).inserted, folder.isOnNetwork { isOnNetwork = true }
      for name in try folder.names() where InboxFile(named: name) != .skipped {
        let text = name.text ?? name.description
        if zip(source.exclusions, visit.exclusions).contains(where: { $0.includes(text, at: $1) }) { continue }
        let inner = visit.entering(text, tree, source)
        let isWanted = tree.pattern.includes(text, at: visit.position)
        guard isWanted || inner.position.isOpen, let status = try FileStatus(of: name, in: folder) else { continue }
        switch status.kind {
        case .file where isWanted: add(name, text, status, visit, tree, root)
        case .link where isWanted && isPicture(text, tree): links.insert(path(name, visit, tree).description)
        case .pipe, .socket, .device, .other:
          if isWanted, isPicture(text, tree) { special.insert(path(name, visit, tree).description) }
        case .folder where inner.position.isOpen:
          if name.text == nil { unnamed.append(path(name, visit, tree)) } else { beneath.append(inner) }
        case .folder where isWanted && !excluded.contains(where: status.identity.isSameNode):
          if passedOver?.tree ?? tree == tree { passedOver = (tree, (passedOver?.count ?? 0) + 1) }
        default: break
        }
      }
    } catch {
      // What is wrong with one folder beneath does not keep the others from being read.
      let isOfProcess = [.exhaustion, .interrupted, .space].contains(error.cause)
      guard !visit.path.isEmpty, !isOfProcess else { throw error }
      isIncomplete = true
      if error.cause != .missing {
        firstError = firstError ?? error
        let path = tree.folder + visit.path
        unreadable.append(
          "\(path.count > 200 ? "…" + path.suffix(200) : path) cannot be read: \(systemMessage(error.code))")
      }
    }
    return beneath
  }

  private mutating func add(
    _ name: FileName, _ text: String, _ status: FileStatus, _ visit: Visit, _ tree: FolderSource.Tree,
    _ root: OpenFolder
  ) {
    let path = path(name, visit, tree)
    // Names that no manifest can have are reported later.
    guard isPicture(text, tree) || path.text.flatMap(FolderSource.url) == nil else {
      others[path] = ManifestFormats.fileExtension(of: text).map { "." + $0.lowercased() } ?? text
      return
    }
    guard paths.insert(path).inserted else { return }
    files.append(File(path: path, identity: status.identity, tree: root, name: visit.path + text))
  }

  /// Whether a file is wanted by its name.
  private func isPicture(_ name: String, _ tree: FolderSource.Tree) -> Bool {
    source.others == .fail || tree.namesExtension || OutputName.isPicture(name)
  }

  private func path(_ name: FileName, _ visit: Visit, _ tree: FolderSource.Tree) -> FileName {
    FileName(bytes: Array((tree.folder + visit.path).utf8) + name.bytes)
  }
}

extension FolderSource.Tree {
  /// The patterns that a shell would make of the first braces in its name; nil when there are none.
  fileprivate var bracePatterns: [String]? {
    guard let start = name.firstIndex(of: "{"), let end = name[start...].firstIndex(of: "}") else { return nil }
    let alternatives = name[name.index(after: start)..<end].split(separator: ",").prefix(10)
    return alternatives.map { "file:" + folder + name[..<start] + $0 + name[name.index(after: end)...] }
  }
}

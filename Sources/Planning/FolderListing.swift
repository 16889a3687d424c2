import Foundation
import Inbox
import Scheduling
import System
import Transfer

/// Lists the files of a folder that is the source of a manifest. Files that are being written are left out.
package struct FolderListing {
  package let location: FolderLocation

  /// How long a file that may be being written must be unchanged, in seconds.
  package let settleTime: Double

  package init(location: FolderLocation, settleTime: Double) {
    self.location = location
    self.settleTime = settleTime
  }

  /// The result of listing a folder.
  package struct Result {
    /// The URLs of the files, in the order of their names.
    package var urls: [String] = []

    /// Which files were left out, and why, one sentence each, at most `warningLimit`.
    package var warnings: [String] = []

    /// Whether files were left out because they were being written.
    package var isIncomplete = false
  }

  /// The most warnings. The last one gives the number of the other files.
  static let warningLimit = 20

  /// Lists a folder. Waits up to the settling time when it is not known whether files are being written.
  /// - Throws: `SystemError`; `CancellationError` soon after `isCancelled` returns true.
  package func list(_ folder: OpenFolder, isCancelled: () -> Bool) throws -> Result {
    var settling = Settling(time: settleTime)
    settling.isOnNetwork = folder.isOnNetwork
    let began = Clock.monotonicSeconds
    while true {
      let now = Clock.monotonicSeconds
      let files = try files(in: folder)
      let settled = settling.settled(files, now: now, wallClock: Clock.wallSeconds) { index in
        (files[index].name.text.flatMap { try? folder.open(reading: $0) })?.writers ?? .unknown
      }
      if settled.count == files.count || now - began > settling.effectiveTime { return result(files, settled: settled) }
      // Waits at least as long as listing the folder takes.
      let pause = max(0.05, Clock.monotonicSeconds - now)
      for _ in 0..<Int(pause / 0.05) {
        if isCancelled() { throw CancellationError() }
        Thread.sleep(forTimeInterval: 0.05)
      }
    }
  }

  /// The files that match, in the order of their names, without links and temporary files of other programs.
  private func files(in folder: OpenFolder) throws -> [(name: FileName, identity: FileIdentity)] {
    try folder.names().filter { name in
      InboxFile(named: name) != .skipped && location.includes(name.text ?? name.description)
    }.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }.compactMap { name in
      guard let status = try FileStatus(of: name, in: folder), status.kind == .file else { return nil }
      return (name, status.identity)
    }
  }

  private func result(_ files: [(name: FileName, identity: FileIdentity)], settled: [Int]) -> Result {
    var result = Result()
    let settled = Set(settled)
    var leftOut = 0
    func leaveOut(_ name: FileName, _ why: String) {
      leftOut += 1
      if leftOut < Self.warningLimit { result.warnings.append("\(name) \(why)") }
    }
    for (index, file) in files.enumerated() {
      guard settled.contains(index) else {
        result.isIncomplete = true
        leaveOut(file.name, "is being written, and is left for the next time")
        continue
      }
      guard let url = file.name.text.flatMap(location.url) else {
        leaveOut(file.name, "has a name that no manifest can have, and is left out")
        continue
      }
      result.urls.append(url)
    }
    if leftOut >= Self.warningLimit {
      result.warnings.append("\((leftOut - Self.warningLimit + 1).of("more file is", "more files are")) left out")
    }
    return result
  }
}

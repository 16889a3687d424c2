import Foundation
import JSON
import Manifests
import System

/// The part of a report before its rows. Each key is on a line of its own.
package struct ReportHead: Sendable, Equatable {
  package static let schemaVersion = 1

  /// The line before the rows.
  package static let rowsBegin = "\"entries\":["

  package let members: [JSONValue.Member]

  package init(members: [JSONValue.Member]) { self.members = members }

  /// The sizes of the beginnings that are read, in bytes: the largest holds any head of which messages and lists have a limit.
  private static let sizes = [64 << 10, 1 << 20, 64 << 20]

  /// Reads the head of a report without reading its rows.
  /// - Returns: nil when the file is not a report of this program.
  /// - Throws: `SystemError` when it cannot be read.
  package init?(of file: OpenFile) throws(SystemError) {
    guard let (start, end) = try Self.start(of: file) else { return nil }
    let head = String(decoding: start[..<end], as: UTF8.self)
    guard head.hasSuffix(","), case .object(let members)? = try? JSONValue(parsing: head.dropLast() + "}") else {
      return nil
    }
    self.members = members
  }

  /// - Returns: The beginning of a file, and where the line before the rows begins in it; nil when there is no such line.
  private static func start(of file: OpenFile) throws(SystemError) -> (bytes: [UInt8], end: Int)? {
    for size in sizes {
      let bytes = try file.readStart(size)
      if let end = end(in: bytes) { return (bytes, end) }
      if bytes.count < size { return nil }
    }
    return nil
  }

  /// Where the line before the rows begins. Looking at the ends of lines takes a hundredth of the time of `firstRange(of:)`.
  private static func end(in start: [UInt8]) -> Int? {
    let mark = Array("\n\(rowsBegin)\n".utf8)
    var place = start.firstIndex(of: mark[0])
    while let end = place, !start[end...].starts(with: mark) { place = start[(end + 1)...].firstIndex(of: mark[0]) }
    return place
  }

  package subscript(key: String) -> JSONValue? { members.first { $0.key == key }?.value }

  /// The name under which the job's folder keeps the manifest; nil in a report without one.
  package var manifestName: String? {
    guard let manifest = self["manifest"], let file = manifest["file"]?.string,
      let suffix = ManifestFileName(file)?.suffix ?? manifest["format"]?.string
    else { return nil }
    return "manifest." + suffix
  }

  package var job: String? { self["job"]?.string }

  package var runID: String? { self["run_id"]?.string }

  package var state: JobOutcome.State? { self["state"]?.string.flatMap(JobOutcome.State.init(rawValue:)) }

  package var finished: String? { self["finished_at"]?.string }

  package var counts: JobOutcome.Counts? { self["counts"].flatMap(JobOutcome.Counts.init) }

  /// The messages of its warnings.
  package var warnings: Set<String> {
    guard case .array(let warnings)? = self["warnings"] else { return [] }
    return Set(
      warnings.compactMap { warning in
        guard case .object(let members) = warning else { return nil }
        return members.first { $0.key == "message" }?.value.string
      })
  }

  package var sinceLast: SinceLast? { self["since_last"].flatMap(SinceLast.init) }
}

extension JSONValue {
  /// A time as RFC 3339 in UTC with milliseconds.
  /// - Parameter milliseconds: Since 1970.
  package static func time(_ milliseconds: Int) -> JSONValue {
    // The format truncates to milliseconds. The addition keeps a number that is not exact in binary from losing one.
    let date = Date(timeIntervalSince1970: (Double(milliseconds) + 0.25) / 1000)
    return .string(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
  }
}

extension JobOutcome.Counts {
  package var json: JSONValue {
    .object([
      "total": .integer(total), "filtered": .integer(filtered), "failed": .integer(failed),
      "cancelled": .integer(cancelled), "reused": .integer(reused),
    ])
  }

  /// - Returns: nil when a count is missing.
  init?(_ json: JSONValue) {
    guard let total = json["total"]?.integer, let filtered = json["filtered"]?.integer,
      let failed = json["failed"]?.integer, let cancelled = json["cancelled"]?.integer,
      let reused = json["reused"]?.integer
    else { return nil }
    self.init(total: total, filtered: filtered, failed: failed, cancelled: cancelled, reused: reused)
  }
}

/// The program's name and version in reports.
package enum Tool {
  package static let name = "darkroom"
  package static let version = "0.1.0"
}

import JSON
import Model
import System

/// The contents of an outbox's page that an earlier process has written.
struct EarlierPage {
  /// The greatest size of a page, in bytes.
  private static let limit = 64 << 20
  private static let dataBegins = #"id="data">"#

  /// The id of the machine's boot in which the page was written.
  let boot: String

  let ended: [ByteKey: EndedJob]

  let hasOlder: Bool

  /// The name of the job up to which pages were checked for completeness; nil when all were.
  let checkedTo: String?

  /// - Returns: nil when there is no page, or it is incomplete.
  init?(of outbox: OutboxFolder) {
    guard let folder = try? outbox.open(), (try? ExistingPage(in: folder)) == .ours,
      let file = try? folder.open(reading: ExistingPage.name), let size = try? file.status().size, size <= Self.limit,
      let bytes = try? file.readStart(size), let begin = bytes.firstRange(ofBytes: Self.dataBegins)?.upperBound,
      let end = bytes[begin...].firstIndex(of: UInt8(ascii: "<")),
      let data = try? JSONValue(parsing: String(decoding: bytes[begin..<end], as: UTF8.self)),
      case .array(let jobs)? = data["jobs"]
    else { return nil }
    boot = data["instance"]?["boot_id"]?.string ?? ""
    checkedTo = data["instance"]?["checked_to"]?.string
    let known = jobs.compactMap { EndedJob($0) }
    ended = Dictionary(known.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    hasOlder = data["has_older"] == .bool(true)
  }
}

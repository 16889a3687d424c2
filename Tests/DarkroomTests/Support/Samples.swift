import Imaging
import Manifests
import System
import TestSupport
import Transfer

@testable import Model

extension Entry {
  static func sample(
    _ position: Int = 0, url: String = "http://h/a.jpg", recipe: String = "none", priority: Priority = .normal,
    request: SourceRequest = .plain
  ) throws -> Entry {
    try sample(position, urls: [url], recipe: recipe, priority: priority, request: request)
  }

  static func sample(
    _ position: Int = 0, urls: [String], recipe: String = "none", priority: Priority = .normal,
    request: SourceRequest = .plain
  ) throws -> Entry {
    Entry(
      position: position, urls: urls, request: request, name: "entry \(position)",
      recipe: try Recipe(parsing: recipe), options: OutputOptions(), priority: priority)
  }
}

extension RunContext {
  /// A run whose folders are not there.
  static var sample: RunContext {
    RunContext(
      number: 1, runID: "run-0001", folder: JobFolder(path: "/nowhere/job", name: "job"),
      staging: Staging(folder: "/nowhere/staging", runID: "run-0001"))
  }
}

extension PhotoRecord {
  /// A record of a run whose folders are not there.
  convenience init(_ entry: Entry) { self.init(entry, run: .sample) }
}

extension PhotoRecord.Source {
  static var sample: PhotoRecord.Source {
    PhotoRecord.Source(finalURL: "http://h/a.jpg", httpStatus: 200, bytes: 10, sha256: "ab")
  }
}

extension PhotoRecord.Result {
  static var sample: PhotoRecord.Result {
    get throws { PhotoRecord.Result(picture: .sample, key: try .sample) }
  }
}

extension Artifact {
  static var sample: Artifact { Artifact(.result, nil, staged: "s", target: "images/s.jpg", bytes: 3, sha256: "cd") }
}

extension ResultKey {
  static var sample: ResultKey {
    get throws { ResultKey(of: "ab", for: try .sample(), output: OutputOptions()) }
  }
}

extension ImageInfo {
  static var sample: ImageInfo { ImageInfo(format: .jpeg, width: 2, height: 3) }
}

extension JobManifest {
  /// A manifest of one format, accepted at 1000 ms.
  static func sample(
    file: String = "job.txt", inboxPath: String? = nil, identity: String = "identity"
  ) throws -> JobManifest {
    JobManifest(
      file: file, format: ManifestFileName(file)?.format.name ?? "txt", sha256: String(repeating: "ab", count: 32),
      inboxPath: inboxPath, identity: identity, accepted: 1000,
      configuration: Configuration(filters: try Recipe(parsing: "none"), processors: 1))
  }
}

extension ReportRow {
  /// A row of an entry.
  static func sample(
    _ index: Int = 0, url: String = "http://h/", state: State, output: Output? = nil, source: Source? = nil,
    failure: Failure? = nil
  ) -> ReportRow {
    ReportRow(
      index: index, name: "\(index)", url: url, finalURL: nil, state: state, isReused: false,
      isCoalesced: false, priority: "normal", attempts: 1, output: output, source: source, filters: "none",
      timings: Timings(), failure: failure, metadata: nil)
  }
}

extension ReportRow.Output {
  static func sample(bytes: Int = 3) -> ReportRow.Output {
    ReportRow.Output(file: "images/a.jpg", picture: .sample, bytes: bytes, sha256: "cd")
  }
}

extension ReportRow.Source {
  static func sample(bytes: Int = 10, httpStatus: Int? = 200) -> ReportRow.Source {
    ReportRow.Source(picture: .sample, bytes: bytes, sha256: "ab", httpStatus: httpStatus)
  }
}

/// A picture whose result is large enough for a preview, and quick to filter.
enum LargePicture {
  /// Writes a JPEG of 1501 × 1000 pixels.
  static func write(to path: String) throws {
    _ = try TestPython.run(
      "import sys; from PIL import Image; Image.open(sys.argv[1]).resize((1501, 1000)).save(sys.argv[2], 'JPEG')",
      [packageRoot + "/Samples/coffee.jpg", path])
  }
}

extension JobTally {
  /// Adds a row of a job without variants, whose lines are its positions.
  mutating func add(_ row: ReportRow) { add(row, at: row.index) }
}

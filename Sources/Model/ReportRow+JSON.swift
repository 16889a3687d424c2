import Imaging
import JSON

extension ReportRow {
  /// The row as reports and events show it. Keys without a value are left out.
  package var json: JSONValue {
    let start = JSONValue.members([
      "index": .integer(index),
      "name": .string(name),
      "variant": variant.map { .string($0) },
      "url": .string(url),
      "final_url": finalURL.map { .string($0) },
      "state": .string(state.rawValue),
      "reused": isReused ? .bool(true) : nil,
      "coalesced": isCoalesced ? .bool(true) : nil,
      "recovered": isRecovered ? .bool(true) : nil,
      "priority": .string(priority),
      "attempts": .integer(attempts),
      "output": output?.json,
    ])
    let end = JSONValue.members([
      "source": source?.json,
      "filters": .string(filters),
      "timings_ms": timings.json,
      "error": failure?.json,
      "warnings": warnings.isEmpty
        ? nil : .array(warnings.map { .object(["code": .string($0.code.rawValue), "message": .string($0.message)]) }),
      "metadata": metadata,
    ])
    return .object(start + derived.members(JSONValue.string) + end)
  }

  /// Reads a row.
  /// - Throws: `JSONError` for invalid JSON, `RowError` for JSON that is not a row.
  package init(parsing text: String) throws {
    let json = try JSONValue(parsing: text)
    guard let index = json["index"]?.integer, let name = json["name"]?.string, let url = json["url"]?.string,
      let state = json["state"]?.string.flatMap(State.init(rawValue:)), let attempts = json["attempts"]?.integer
    else { throw RowError(text: text) }
    self.init(
      index: index, name: name, variant: json["variant"]?.string, url: url, finalURL: json["final_url"]?.string,
      state: state, isReused: json["reused"] == .bool(true), isCoalesced: json["coalesced"] == .bool(true),
      isRecovered: json["recovered"] == .bool(true),
      priority: json["priority"]?.string ?? Entry.Priority.normal.rawValue, attempts: attempts,
      output: json["output"].flatMap(Output.init), derived: Dictionary(json, \.string),
      source: json["source"].flatMap(Source.init),
      filters: json["filters"]?.string ?? "", timings: Timings(json["timings_ms"]),
      failure: json["error"].flatMap(Failure.init),
      warnings: Warning.list(in: json["warnings"]), metadata: json["metadata"])
  }

  /// A text that is not a row of a report.
  package struct RowError: Error, CustomStringConvertible {
    let text: String
    package var description: String { "this is no row of a report: \(text.prefix(200))" }
  }
}

extension ReportRow.Warning {
  /// Reads a list of warnings. Unknown codes are skipped.
  fileprivate static func list(in json: JSONValue?) -> [Self] {
    guard case .array(let list) = json else { return [] }
    return list.compactMap { json in
      guard let code = json["code"]?.string.flatMap(Code.init(rawValue:)), let message = json["message"]?.string else {
        return nil
      }
      return Self(code: code, message: message)
    }
  }
}

extension ReportRow.Output {
  fileprivate var json: JSONValue {
    .object([
      "file": .string(file), "format": .string(picture.format.rawValue), "width": .integer(picture.width),
      "height": .integer(picture.height), "bytes": .integer(bytes), "sha256": .string(sha256),
      "quality": quality.map { .integer($0) }, "metadata": metadata.map { .string($0.rawValue) },
      "settings": settings.map { .string($0) },
    ])
  }

  fileprivate init?(_ json: JSONValue) {
    guard let file = json["file"]?.string, let picture = ImageInfo(json), let bytes = json["bytes"]?.integer,
      let sha256 = json["sha256"]?.string
    else { return nil }
    self.init(
      file: file, picture: picture, bytes: bytes, sha256: sha256, quality: json["quality"]?.integer,
      metadata: json["metadata"]?.string.flatMap(MetadataPolicy.init(rawValue:)), settings: json["settings"]?.string)
  }
}

extension ReportRow.Source {
  fileprivate var json: JSONValue {
    .object([
      "file": file.map { .string($0) },
      "format": picture.map { .string($0.format.rawValue) },
      "width": picture.map { .integer($0.width) },
      "height": picture.map { .integer($0.height) },
      "frames": picture.flatMap { $0.frames > 1 ? .integer($0.frames) : nil },
      "bytes": .integer(bytes),
      "sha256": .string(sha256),
      "http_status": httpStatus.map { .integer($0) },
      "changed": isChanged.map { .bool($0) },
      "etag": etag.map { .string($0) },
      "last_modified": lastModified.map { .string($0) },
    ])
  }

  fileprivate init?(_ json: JSONValue) {
    guard let bytes = json["bytes"]?.integer, let sha256 = json["sha256"]?.string else { return nil }
    self.init(
      picture: ImageInfo(json), bytes: bytes, sha256: sha256, httpStatus: json["http_status"]?.integer,
      isChanged: json["changed"].map { $0 == .bool(true) }, file: json["file"]?.string, etag: json["etag"]?.string,
      lastModified: json["last_modified"]?.string)
  }
}

extension ReportRow.Timings {
  fileprivate var json: JSONValue? {
    guard self != ReportRow.Timings() else { return nil }
    return .object([
      "queued": queued.map { .number($0) }, "download": download.map { .number($0) },
      "filter": filter.map { .number($0) },
    ])
  }

  fileprivate init(_ json: JSONValue?) {
    self.init(
      queued: json?["queued"]?.number, download: json?["download"]?.number, filter: json?["filter"]?.number)
  }
}

extension ReportRow.Failure {
  /// The failure as `error` of rows and events.
  package var json: JSONValue {
    .object([
      "stage": .string(stage), "code": .string(code), "message": .string(message),
      "http_status": httpStatus.map { .integer($0) }, "retryable": .bool(isRetryable),
      "first_seen": firstSeen.map { .string($0) }, "runs": runs.map { .integer($0) },
      "host_refusals": hostRefusals.map { .integer($0) },
      "mirrors": mirrors.isEmpty ? nil : .array(mirrors.map(\.json)),
    ])
  }

  fileprivate init?(_ json: JSONValue) {
    guard let stage = json["stage"]?.string, let code = json["code"]?.string else { return nil }
    let mirrors: [JSONValue] = if case .array(let mirrors)? = json["mirrors"] { mirrors } else { [] }
    self.init(
      stage: stage, code: code, message: json["message"]?.string ?? "",
      httpStatus: json["http_status"]?.integer, isRetryable: json["retryable"] == .bool(true),
      firstSeen: json["first_seen"]?.string, runs: json["runs"]?.integer, hostRefusals: json["host_refusals"]?.integer,
      mirrors: mirrors.compactMap(ReportRow.MirrorFailure.init))
  }
}

extension ReportRow.MirrorFailure {
  fileprivate var json: JSONValue {
    .object(["url": .string(url), "code": .string(code), "http_status": httpStatus.map { .integer($0) }])
  }

  fileprivate init?(_ json: JSONValue) {
    guard let url = json["url"]?.string, let code = json["code"]?.string else { return nil }
    self.init(url: url, code: code, httpStatus: json["http_status"]?.integer)
  }
}

extension ImageInfo {
  /// The description as rows and provenances show it.
  var json: JSONValue {
    .object([
      "format": .string(format.rawValue), "width": .integer(width), "height": .integer(height),
      "frames": frames == 1 ? nil : .integer(frames),
    ])
  }

  /// Reads a picture's members from an object; nil when one is missing or unknown.
  init?(_ json: JSONValue?) {
    guard let format = json?["format"]?.string.flatMap(ImageFormat.init(rawValue:)),
      let width = json?["width"]?.integer, let height = json?["height"]?.integer
    else { return nil }
    self.init(format: format, width: width, height: height, frames: json?["frames"]?.integer ?? 1)
  }
}

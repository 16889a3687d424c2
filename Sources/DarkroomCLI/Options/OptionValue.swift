import Darkroom
import Foundation
import Imaging
import Transfer

/// Reads the values of options. Each function throws a `UsageError` that says what a value must be.
enum OptionValue {
  /// A flag has no value on the command line, which counts as `1`. In the environment and the file it is on with `1`,
  /// `true`, `yes` or `on`, and off with `0`, `false`, `no`, `off` or nothing; letters' case is ignored.
  static func flag(_ text: String) throws -> Bool {
    switch text.lowercased() {
    case "1", "true", "yes", "on": return true
    case "0", "false", "no", "off", "": return false
    default: throw UsageError("must be 1, true, yes or on, or else 0, false, no or off; not \"\(text)\"")
    }
  }

  static func whole(_ text: String, in range: ClosedRange<Int>) throws -> Int {
    guard let value = Int(text), range.contains(value) else {
      throw UsageError("must be a whole number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\"")
    }
    return value
  }

  static func seconds(_ text: String, from least: Double) throws -> Double {
    guard let value = Double(text), value.isFinite, value >= least, value <= 1e9 else {
      throw UsageError("must be a number of seconds of at least \(least.formatted()), not \"\(text)\"")
    }
    return value
  }

  /// A number of bytes; `K`, `M` and `G` mean powers of 1024.
  static func bytes(_ text: String) throws -> Int {
    try scaled(text, by: 1024, what: "a number of bytes such as 300000, 64K, 256M or 2G")
  }

  /// A number of pixels; `K`, `M` and `G` mean powers of 1000.
  static func pixels(_ text: String) throws -> Int {
    let value = try scaled(text, by: 1000, what: "a number of pixels such as 4000000, 40M or 1G")
    guard value > 0 else { throw UsageError("must be at least 1") }
    return value
  }

  private static func scaled(_ text: String, by base: Int, what: String) throws -> Int {
    let power = ["K": 1, "M": 2, "G": 3][text.suffix(1).uppercased()] ?? 0
    guard let number = Int(power == 0 ? text[...] : text.dropLast()), number >= 0 else {
      throw UsageError("must be \(what), not \"\(text)\"")
    }
    let factor = (0..<power).reduce(1) { product, _ in product * base }
    let (value, overflow) = number.multipliedReportingOverflow(by: factor)
    guard !overflow else { throw UsageError("must be \(what); \"\(text)\" is too large") }
    return value
  }

  static func recipe(_ text: String) throws -> Recipe {
    do {
      return try Recipe(parsing: text)
    } catch {
      throw UsageError("must be a list of filters such as sepia(0.8): \(error)")
    }
  }

  static func metadata(_ text: String) throws -> MetadataPolicy {
    if let policy = MetadataPolicy(rawValue: text.lowercased()) { return policy }
    throw UsageError(NearestName.unknown("kind of metadata", text, among: MetadataPolicy.allCases.map(\.rawValue)))
  }

  static func format(_ text: String) throws -> ImageFormat? {
    switch OutputFormatName(rawValue: text) {
    case let name?: return name.format
    case nil: throw UsageError(NearestName.unknown("format", text, among: OutputFormatName.allCases.map(\.rawValue)))
    }
  }

  /// Networks, separated by commas.
  static func networks(_ text: String) throws -> [Network] {
    try text.split(separator: ",").map { part in
      do {
        return try Network(parsing: part.trimmingCharacters(in: .whitespaces))
      } catch let error as Network.ParseError {
        throw UsageError("must be networks separated by commas: \(error.message)")
      }
    }
  }

  /// Text that may stand in a header of a request.
  static func headerText(_ text: String) throws -> String {
    guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f }) else {
      throw UsageError("must not hold control characters")
    }
    return text
  }

  static func proxy(_ text: String) throws -> Proxy {
    do {
      return try Proxy(parsing: text)
    } catch {
      throw UsageError(error.message)
    }
  }

  static func folder(_ text: String) throws -> String {
    do {
      let path = try Folder.resolved(text)
      _ = try OpenFile(folder: path)
      return path
    } catch {
      throw StopError.missing("--file-root: \(error)")
    }
  }
}

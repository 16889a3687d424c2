/// Values of one name, in the text format of Prometheus, version 0.0.4
/// (https://prometheus.io/docs/instrumenting/exposition_formats).
struct MetricFamily: Equatable {
  enum Kind: String {
    case counter, gauge, histogram
    /// A gauge that is the time of the latest event, or 0.
    case time

    fileprivate var type: String { self == .time ? "gauge" : rawValue }
  }

  struct Sample: Equatable {
    /// The name with its labels, such as `darkroom_jobs{state="running"}`.
    let name: String
    let value: Double
  }

  let name: String
  let kind: Kind
  let help: String
  let samples: [Sample]

  /// A single value.
  init(_ kind: Kind, _ name: String, _ help: String, _ value: Double) {
    (self.name, self.kind, self.help) = ("darkroom_" + name, kind, help)
    samples = [Sample(name: self.name, value: value)]
  }

  init(_ kind: Kind, _ name: String, _ help: String, _ count: Int) { self.init(kind, name, help, Double(count)) }

  /// Values with a label.
  init(_ kind: Kind, _ name: String, _ help: String, by label: String, _ values: [(String, Double)]) {
    let name = "darkroom_" + name
    (self.name, self.kind, self.help) = (name, kind, help)
    samples = values.map { Sample(name: "\(name){\(label)=\(Self.quoted($0))}", value: $1) }
  }

  init(_ kind: Kind, _ name: String, _ help: String, by label: String, _ counts: [(String, Int)]) {
    self.init(kind, name, help, by: label, counts.map { ($0, Double($1)) })
  }

  init(_ name: String, _ help: String, _ histogram: DurationHistogram) {
    let name = "darkroom_" + name
    (self.name, kind, self.help) = (name, .histogram, help)
    var total = 0
    var samples: [Sample] = []
    for (bound, count) in zip(DurationHistogram.bounds.map(Self.text) + ["+Inf"], histogram.counts) {
      total += count
      samples.append(Sample(name: "\(name)_bucket{le=\"\(bound)\"}", value: Double(total)))
    }
    self.samples =
      samples + [
        Sample(name: name + "_sum", value: histogram.sum), Sample(name: name + "_count", value: Double(total)),
      ]
  }

  /// The lines of the family.
  /// - Parameter earlier: Values of earlier processes: counts are added to them, and later times replace them.
  func text(continuing earlier: [String: Double]) -> String {
    var text = "# HELP \(name) \(help)\n# TYPE \(name) \(kind.type)\n"
    for sample in samples {
      let last = earlier[sample.name] ?? 0
      let value =
        switch kind {
        case .counter, .histogram: last + sample.value
        case .time: max(last, sample.value)
        case .gauge: sample.value
        }
      text += "\(sample.name) \(Self.text(value))\n"
    }
    return text
  }

  /// The values of a text by their names and labels, without those that cannot be counts or times.
  static func values(in text: String) -> [String: Double] {
    let samples = text.split(separator: "\n").compactMap { line -> (String, Double)? in
      guard !line.hasPrefix("#"), let blank = line.lastIndex(of: " "),
        let value = Double(line[line.index(after: blank)...]), value >= 0, value.isFinite
      else { return nil }
      return (String(line[..<blank]), value)
    }
    return Dictionary(samples, uniquingKeysWith: { first, _ in first })
  }

  private static func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n") + "\""
  }

  private static func text(_ value: Double) -> String { Int(exactly: value).map { String($0) } ?? String(value) }
}

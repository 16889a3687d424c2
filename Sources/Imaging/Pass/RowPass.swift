/// The general strategy, for every recipe and every pair of formats: rows of floats.
struct RowPass: PassStrategy {
  private let plan: PassPlan

  init(_ plan: PassPlan) { self.plan = plan }

  var heldBytes: Int { plan.pipeline.heldBytes }

  static func explanation(of recipe: Recipe) -> String? { nil }

  func run(to destination: Int32, isCancelled: () -> Bool) throws(ImagingError) -> [UInt8]? {
    let pipeline = plan.pipeline
    return try withoutActuallyEscaping(isCancelled) { isCancelled throws(ImagingError) -> [UInt8]? in
      let decoded = try DecodedRows(
        plan.decoder, eighths: pipeline.eighths, layout: pipeline.working, isCancelled: isCancelled)
      let rows = try pipeline.rows(from: decoded)
      let encoder = try plan.encoder.init(destination, plan.settings)
      let buffer = RowBuffer(width: rows.size.width, layout: rows.layout)
      let preview = plan.preview.map { RowPreview($0, of: rows.size, layout: rows.layout) }
      for index in 0..<rows.size.height {
        if index % DecodedRows.rowsBetweenChecks == 0, isCancelled() { throw .cancelled }
        try rows.read(into: buffer.row)
        try encoder.write(buffer.row, isCancelled: isCancelled)
        preview?.add(buffer.row)
      }
      try decoded.finish()
      try encoder.finish(isCancelled: isCancelled)
      return preview?.finish()
    }
  }
}

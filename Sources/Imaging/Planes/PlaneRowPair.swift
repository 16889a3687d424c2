/// Two rows of luma of a band, and the rows of chroma that belong to them; one row twice where they share it.
struct PlaneRowPair {
  let luma, blue, red: (upper: PlaneSamples, lower: PlaneSamples)

  /// The rows `row` and `row + 1`.
  init(_ band: PlaneBand, row: Int) {
    func rows(_ plane: PlaneBand.Plane) -> (PlaneSamples, PlaneSamples) {
      (plane.row(row / plane.sharing.vertical), plane.row((row + 1) / plane.sharing.vertical))
    }
    (luma, blue, red) = (rows(band.planes[0]), rows(band.planes[1]), rows(band.planes[2]))
  }
}

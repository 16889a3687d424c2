import CPlanes

extension cplanes_instructions {
  /// The last that the processor has: those with the widest vectors.
  static let supported = cplanes_supported()
}

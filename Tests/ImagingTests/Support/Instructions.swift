import CPlanes

@testable import Imaging

extension cplanes_instructions {
  /// All that the processor has, the baseline first.
  static let all = [cplanes_baseline, cplanes_avx2, cplanes_avx512].filter { $0.rawValue <= supported.rawValue }
}

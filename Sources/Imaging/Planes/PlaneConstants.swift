/// Numbers that vectors are multiplied by, each repeated to a vector, in memory.
///
/// In memory on purpose: what is loaded next to a multiplication is known to have 16 bits, and the product's upper half
/// then takes a single instruction. As a variable outside the loop it would be widened there.
final class PlaneConstants {
  /// The first vector.
  let table: UnsafeMutablePointer<PlaneVector>

  /// Memory for some numbers.
  init(_ values: [Int16]) {
    table = .allocate(capacity: values.count)
    for (index, value) in values.enumerated() { (table + index).initialize(to: PlaneVector(repeating: value)) }
  }

  deinit { table.deallocate() }
}

/// Tables of vectors that a kernel computes with.
///
/// In memory on purpose: what is loaded next to a multiplication is known to have 16 bits, and the product's upper half
/// then takes a single instruction. As a variable outside the loop it would be widened there.
final class PlaneConstants {
  private var tables: [UnsafeMutablePointer<PlaneVector>] = []

  /// A table of some numbers, each repeated to a vector, there as long as this is. What is used in a loop holds the table only: references would be
  /// counted in each round.
  func table(_ numbers: [Int16]) -> UnsafeMutablePointer<PlaneVector> {
    let table = UnsafeMutablePointer<PlaneVector>.allocate(capacity: numbers.count)
    for (index, number) in numbers.enumerated() { (table + index).initialize(to: PlaneVector(repeating: number)) }
    tables.append(table)
    return table
  }

  deinit { for table in tables { table.deallocate() } }
}

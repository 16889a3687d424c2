/// What an entry of a live job came to.
package struct LedgerEntry: Sendable, Equatable {
  /// Place in the manifest, from 0.
  package let position: Int

  /// The file that it delivers; nil when it has none, because it failed.
  package var delivery: Delivery?

  /// Its row of the report (JSON).
  package let row: String

  package init(position: Int, delivery: Delivery?, row: String) {
    self.position = position
    self.delivery = delivery
    self.row = row
  }
}

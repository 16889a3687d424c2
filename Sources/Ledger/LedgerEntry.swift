/// What an entry of a live job came to.
package struct LedgerEntry: Sendable, Equatable {
  /// Place in the manifest, from 0.
  package let position: Int

  /// The file that it delivers; nil when it has none, because it failed.
  package var delivery: Delivery?

  /// A file that was delivered earlier and is still the same, although its identity is not.
  package struct Recognised: Sendable, Equatable {
    /// Path beneath the job's folder.
    package let target: String

    /// As `Delivery.identity`, from now on.
    package let identity: String

    package init(target: String, identity: String) { (self.target, self.identity) = (target, identity) }
  }

  /// nil for most. Only `Ledger.finish` records it.
  package let recognised: Recognised?

  /// Its row of the report (JSON).
  package let row: String

  package init(position: Int, delivery: Delivery?, recognised: Recognised? = nil, row: String) {
    self.position = position
    self.delivery = delivery
    self.recognised = recognised
    self.row = row
  }
}

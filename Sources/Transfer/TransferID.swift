/// Names a transfer that was started, to cancel it by. Unique within its engine.
package struct TransferID: Hashable, Sendable {
  let number: UInt64
}

/// Whether the pages of the gallery are written.
package enum Gallery: String, CaseIterable, Sendable {
  case on, off
}

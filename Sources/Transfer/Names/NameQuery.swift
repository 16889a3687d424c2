/// Somebody other than a transfer who wants to know the addresses of a name.
struct NameQuery: Sendable {
  let name: String

  /// Whether the resolver is asked even if the addresses are known: its failure is what is to be found out.
  let isAfresh: Bool

  /// Called exactly once, with what was found; nil when that took too long or the engine has ended.
  let completion: @Sendable (NameLookup?) -> Void
}

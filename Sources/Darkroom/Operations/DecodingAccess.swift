/// What a filtration decodes with.
struct DecodingAccess: Sendable {
  let pool: DecodingPool

  /// Where it is written down what is inside a filtration; nil when it is not.
  var journal: FiltrationJournal?
}

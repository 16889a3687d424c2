import Manifests
import System

/// Finds entries of a manifest that claim the same output. Their locations are not kept while entries are read, since a
/// manifest may have a million; the manifest is read again for the entries that clash. Unchanged names are settled
/// first, then replaced ones, then derived ones, so that adding an entry never changes the name of an entry with a
/// given one.
package struct NameClashes {
  /// An entry whose name is taken by an earlier one.
  struct Duplicate {
    let holder: Int
    let name: String

    /// The index of its problem among the manifest's problems.
    let problem: Int
  }

  /// An entry that got another name than intended, because that is taken.
  package struct Renamed {
    /// Where the intended name comes from.
    enum Cause {
      /// It replaces a given name that other systems cannot store.
      case replaced
      /// The entry had it in the job's last run.
      case lastRun
    }

    let cause: Cause
    let position: Int
    let taken: String
    let name: String
  }

  private(set) var duplicates: [Duplicate] = []
  package var renamed: [Renamed] = []

  package init() {}

  /// Records a duplicate.
  /// - Parameter problem: The number of problems before it.
  /// - Returns: A problem without the location of the other entry, which `complete` adds.
  package mutating func add(
    _ name: String, holder: Int, problem: Int, at location: ManifestProblem.Location
  ) -> ManifestProblem {
    duplicates.append(Duplicate(holder: holder, name: name, problem: problem))
    return ManifestProblem(.duplicateName, "the name \"\(Self.shown(name))\" is taken", at: location)
  }

  /// Completes the problems of the duplicates, and adds a warning for each entry that was renamed.
  /// - Parameter read: Reads the manifest from its beginning, with the same items as before.
  package func complete(_ findings: inout ManifestFindings, read: ((ManifestItem) throws -> Void) throws -> Void) throws
  {
    let wanted = Set(duplicates.map(\.holder) + renamed.map(\.position))
    guard !wanted.isEmpty else { return }
    let origins = try EntryOrigin.all(of: wanted, read: read)
    for duplicate in duplicates where findings.problems.indices.contains(duplicate.problem) {
      guard let holder = origins[duplicate.holder] else { continue }
      let location = holder.location.description == holder.name ? "" : " at \(holder.location)"
      // The name of a variant's result is that of its entry, a dot, and the variant's own.
      let start = holder.name + "."
      let variant =
        holder.hasVariants && duplicate.name.begins(with: start)
        ? "the variant \"\(Self.shown(duplicate.name.dropping(bytesOf: start)))\" of " : ""
      let message =
        "the name \"\(Self.shown(duplicate.name))\" would be the same file as \(variant)\"\(Self.shown(holder.name))\"\(location); rename one of them"
      findings.problems[duplicate.problem] = ManifestProblem(
        .duplicateName, message, at: findings.problems[duplicate.problem].location)
    }
    for entry in renamed {
      guard let origin = origins[entry.position] else { continue }
      let why =
        switch entry.cause {
        case .replaced: "other systems cannot store the name \"\(Self.shown(origin.name))\""
        case .lastRun: "the entry had the name \"\(Self.shown(entry.taken))\" in the last run"
        }
      let message =
        "\(why); since \"\(Self.shown(entry.taken))\" is taken, it becomes \"\(Self.shown(entry.name))\""
      findings.warnings.append(ManifestWarning(.nameClash, message, at: origin.location))
    }
  }

  private static func shown(_ name: String) -> String { EntryOrigin.shown(name) }
}

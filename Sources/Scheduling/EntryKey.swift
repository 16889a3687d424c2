/// The order of entries within a job: by priority, then as in the manifest.
package struct EntryKey: Comparable, Hashable, Sendable {
  /// 0 for the highest priority.
  package let priority: Int

  /// The place in the manifest, from 0.
  package let position: Int

  package init(priority: Int, position: Int) {
    self.priority = priority
    self.position = position
  }

  package static func < (a: EntryKey, b: EntryKey) -> Bool {
    (a.priority, a.position) < (b.priority, b.position)
  }
}

import Inbox
import Model

/// Who will read what a command puts into the inbox.
package enum InboxReader: Equatable, Sendable {
  /// The instance that has the inbox.
  case instance
  /// Nobody now; the next instance.
  case nextStart
  /// An instance works on the outbox, and cannot read the inbox that is there now, for example because another folder was moved to
  /// its place.
  case nobody(process: Int, why: String)
  /// This user may not know.
  case unknown

  /// - Parameters:
  ///   - inbox: The inbox, resolved.
  ///   - configuration: With its folders resolved; nil when the outbox is not there.
  package init(inbox: String, _ configuration: Configuration?) {
    if let (process, why) = configuration.map(StatusReader.init)?.inboxTrouble {
      self = .nobody(process: process, why: why)
      return
    }
    do {
      let holder = try InstanceLock.holder(file: Inbox.instanceFile, beneath: inbox)
      self = holder == nil ? .nextStart : .instance
    } catch {
      self = .unknown
    }
  }
}

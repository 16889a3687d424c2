import Foundation
import TestSupport

/// A service of one user and an ordinary user who may write to its inbox. Needs root, who becomes both.
struct TwoUsers {
  /// Why there can be none; nil for root.
  static let obstacle: String? =
    geteuid() != 0
    ? "only root can be two users"
    : FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv") ? nil : "setpriv is missing"

  let folders: DarkroomFolders

  /// Makes an inbox that everybody may write to, an outbox of the service's, and `secret`, a folder of the service's with
  /// files that nobody is to touch.
  init() throws {
    folders = try DarkroomFolders()
    let prepared = try run(
      """
      cp "$(command -v darkroom)" darkroom; cp -r "\(packageRoot)/Samples" samples
      mkdir secret other; for name in job.txt report.json theirs.txt; do echo precious >secret/$name; done
      chmod 755 .; chmod -R a+rX samples darkroom; chown -R daemon:daemon inbox outbox secret other; chmod 777 inbox
      """)
    guard prepared.status == 0 else { throw POSIXError(.EPERM) }
  }

  private static let service = "setpriv --reuid=daemon --regid=daemon --clear-groups"

  /// What makes a command of bash the ordinary user's.
  static let attacker = "exec setpriv --reuid=nobody --regid=nogroup --clear-groups"

  private func run(_ script: String) throws -> DarkroomProcess.Finished {
    try DarkroomProcess.run(script: script, in: folders.folder)
  }

  /// Lines of bash that an ordinary user runs.
  func attack(_ script: String) throws -> DarkroomProcess.Finished {
    try run(Self.attacker + " /bin/bash -euc '\(script)'")
  }

  /// The service's command line.
  private func command(_ name: String, outbox: String, _ more: [String]) -> String {
    let options = "--settle 0 --poll-interval 0.05 --file-root samples --filters none --low-speed 0"
    return
      "\(Self.service) ./darkroom \(name) --inbox inbox --outbox \(outbox) \(options) \(more.joined(separator: " "))"
  }

  /// Runs the service to its end.
  func run(outbox: String = "outbox", _ more: [String] = []) throws -> DarkroomProcess.Finished {
    try run("exec " + command("run", outbox: outbox, more))
  }

  /// Starts the service.
  func watch(_ more: [String] = []) throws -> DarkroomProcess {
    try DarkroomProcess(script: "exec " + command("watch", outbox: "outbox", more), in: folders.folder)
  }

  /// What tells whether the secret folder is as it was.
  func secret() throws -> String {
    try run("cd secret; ls -lin --time-style=full-iso; cat *").output
  }

  /// Has the service's user drop a manifest.
  func drop(_ name: String) throws {
    let script =
      "echo coffee.jpg >inbox/.new; chmod 644 inbox/.new; chown daemon inbox/.new; mv inbox/.new inbox/\(name)"
    guard try run(script).status == 0 else { throw POSIXError(.EPERM) }
  }
}

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Transfer

/// An engine with a folder for what it downloads.
final class Downloads: Sendable {
  let engine: TransferEngine
  let folder: TemporaryFolder
  private let lastNumber = Atomic(0)

  /// Starts an engine that may connect to 127.0.0.0/8, unless `change` says otherwise.
  convenience init(
    in folder: TemporaryFolder? = nil, _ change: (inout TransferConfiguration) throws -> Void = { _ in }
  ) throws {
    try self.init(in: folder, lookUp: { NameLookup(system: $0) }, change)
  }

  /// - Parameter lookUp: Looks names up, in place of the system's resolver.
  init(
    in folder: TemporaryFolder? = nil, lookUp: @escaping NameResolver.LookUp,
    _ change: (inout TransferConfiguration) throws -> Void = { _ in }
  ) throws {
    var configuration = TransferConfiguration()
    configuration.addressPolicy = AddressPolicy(allowing: [Network("127.0.0.0/8")])
    try change(&configuration)
    engine = TransferEngine(configuration: configuration, lookUp: lookUp)
    self.folder = try folder ?? TemporaryFolder()
  }

  /// Downloads to a new file; returns how it ended and what the file then held.
  func fetch(
    _ url: String, _ request: SourceRequest = .plain, files: FormFiles? = nil, checksum: Checksum? = nil,
    validators: Validators? = nil, settings: HostSettings = HostSettings(), scope: String? = nil
  ) async throws -> (result: Result<TransferOutcome, TransferError>, body: Data) {
    let path = folder.file("\(lastNumber.add(1, ordering: .relaxed).newValue)")
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    let result = try await fetch(
      url, request, files: files, to: descriptor, checksum: checksum, validators: validators, settings: settings,
      scope: scope)
    close(descriptor)
    return (result, try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Downloads to a descriptor. The continuation traps if the completion is called twice.
  func fetch(
    _ url: String, _ request: SourceRequest = .plain, files: FormFiles? = nil, to descriptor: Int32,
    checksum: Checksum? = nil, validators: Validators? = nil, settings: HostSettings = HostSettings(),
    scope: String? = nil
  ) async throws -> Result<TransferOutcome, TransferError> {
    let checked = if let files { files } else { try await engine.checkFiles(of: request) }
    let request = TransferRequest(
      location: try SourceLocation(parsing: url), request: request, files: checked,
      destination: BodyStore(descriptor: descriptor),
      checksum: checksum, validators: validators, validatorScope: scope, settings: settings)
    return await withCheckedContinuation { continuation in
      engine.start(request) { continuation.resume(returning: $0) }
    }
  }

  /// Downloads a URL in groups, each begun at once when the one before has ended: libcurl uses no connection again that
  /// was idle for two minutes, which a test may have to wait on a busy machine.
  func fetch(
    _ url: String, inGroupsOf counts: [Int]
  ) async throws -> [[(result: Result<TransferOutcome, TransferError>, body: Data)]] {
    let location = try SourceLocation(parsing: url)
    let requests = counts.map { count in
      (0..<count).map { _ in
        let path = folder.file("\(lastNumber.add(1, ordering: .relaxed).newValue)")
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        let request = TransferRequest(location: location, destination: BodyStore(descriptor: descriptor))
        return (path: path, request: request, descriptor: descriptor)
      }
    }
    let results = Mutex([String: Result<TransferOutcome, TransferError>]())
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      @Sendable func begin(_ group: Int) {
        guard group < requests.count else { return continuation.resume() }
        for (path, request, _) in requests[group] {
          engine.start(request) { result in
            let hasEnded = results.withLock { results in
              results[path] = result
              return requests[group].allSatisfy { results[$0.path] != nil }
            }
            if hasEnded { begin(group + 1) }
          }
        }
      }
      begin(0)
    }
    return try requests.map { group in
      try group.map { path, _, descriptor in
        close(descriptor)
        return (try #require(results.withLock { $0[path] }), try Data(contentsOf: URL(fileURLWithPath: path)))
      }
    }
  }

  /// The error of a download that is expected to fail, if it did; and what the file then held.
  func failure(_ url: String) async throws -> (error: TransferError?, body: Data) {
    let (result, body) = try await fetch(url)
    guard case .failure(let error) = result else { return (nil, body) }
    return (error, body)
  }
}

extension TransferEngine {
  func checkFiles(of request: SourceRequest) async throws -> FormFiles {
    try await withCheckedContinuation { continuation in
      checkFiles(of: request) { continuation.resume(returning: $0) }
    }.get()
  }
}

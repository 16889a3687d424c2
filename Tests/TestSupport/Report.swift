/// A report as a script reads it.
package struct Report: Decodable, Sendable {
  package let job: String
  package let run_id: String
  package let state: String
  package let started_at, finished_at: String
  package let duration_s: Double
  package let paused_s: Double
  package let pauses: [Pause]?
  package let counts: Counts
  package let since_last: SinceLast?
  package let warnings: [Problem]?
  package let bytes: Bytes
  package let transfers: Transfers?
  package let errors: [Problem]?
  package let entries: [Row]

  package struct Pause: Decodable, Sendable {
    package let cause: String
    package let lock: String?
    package let reason: String?
  }

  package struct Counts: Decodable, Sendable, Equatable {
    package let total, filtered, failed, cancelled, reused: Int

    package init(total: Int, filtered: Int, failed: Int = 0, cancelled: Int = 0, reused: Int = 0) {
      self.total = total
      self.filtered = filtered
      self.failed = failed
      self.cancelled = cancelled
      self.reused = reused
    }
  }

  package struct SinceLast: Decodable, Sendable, Equatable {
    package let failed_new, failed_again, recovered, changed, unchanged: Int
    package let remade: Int?

    package init(
      failedNew: Int = 0, failedAgain: Int = 0, recovered: Int = 0, changed: Int = 0, unchanged: Int = 0,
      remade: Int? = nil
    ) {
      failed_new = failedNew
      failed_again = failedAgain
      self.recovered = recovered
      self.changed = changed
      self.unchanged = unchanged
      self.remade = remade
    }
  }

  package struct Bytes: Decodable, Sendable, Equatable {
    package let downloaded, written: Int

    package init(downloaded: Int, written: Int) {
      self.downloaded = downloaded
      self.written = written
    }
  }

  package struct Transfers: Decodable, Sendable {
    package let requests, retries, bytes, connections_reused: Int
    package let hosts: [Host]
  }

  package struct Host: Decodable, Sendable {
    package let host: String
    package let requests, retries, bytes, connections_reused: Int
    package let failures: [String: Int]?
    package let holds: Int?
    package let first_byte_median_ms: Double?
  }

  package struct Problem: Decodable, Sendable {
    package let code: String
    package let message: String
    package let `where`: String?
  }

  package struct Row: Decodable, Sendable {
    package let index: Int
    package let name: String
    package let variant: String?
    package let url: String
    package let filters: String
    package let state: String
    package let attempts: Int
    package let reused: Bool?
    package let coalesced: Bool?
    package let recovered: Bool?
    package let source: Source?
    package let output: Output?
    package let preview: String?
    package let final_url: String?
    package let error: Failure?
    package let warnings: [Problem]?
  }

  package struct Source: Decodable, Sendable, Equatable {
    package let bytes: Int
    package let sha256: String
    package let http_status: Int?
    package let changed: Bool?
    package let file: String?
    package let frames: Int?
  }

  package struct Output: Decodable, Sendable, Equatable {
    package let file: String
    package let format: String
    package let width, height, bytes: Int
    package let sha256: String
    package let quality: Int?
    package let metadata: String?
  }

  package struct Failure: Decodable, Sendable {
    package let stage: String
    package let code: String
    package let message: String
    package let http_status: Int?
    package let retryable: Bool
    package let first_seen: String?
    package let runs: Int?
    package let host_refusals: Int?
    package let mirrors: [Mirror]?
  }

  package struct Mirror: Decodable, Sendable {
    package let url: String
    package let code: String
    package let http_status: Int?
  }
}

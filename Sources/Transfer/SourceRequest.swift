/// How a server is asked for a source: all but the URL.
package struct SourceRequest: Sendable, Hashable {
  /// The methods by which something may be had. Raw values are what is sent.
  package enum Method: String, Sendable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case query = "QUERY"
  }

  /// What is sent along.
  package enum Content: Sendable, Hashable {
    /// These bytes, in UTF-8; as `application/x-www-form-urlencoded` unless a header says otherwise.
    case body(String)
    /// A form, as `multipart/form-data` (RFC 7578).
    case form([FormPart])
  }

  /// Default: `GET`.
  package private(set) var method = Method.get

  /// Header fields besides libcurl's and ours, in the order in which they are sent. They may hold secrets.
  package private(set) var headers: [HeaderField] = []

  /// Default: `nil`, nothing. It may hold secrets.
  package private(set) var content: Content?

  /// A GET without anything.
  package static let plain = SourceRequest()

  private init() {}

  /// - Throws: `ParseError` when a GET would have a content, a form a `Content-Type` of its own, or the headers have
  ///   more than 64 KiB.
  package init(method: Method, headers: [HeaderField], content: Content?) throws(ParseError) {
    guard method != .get || content == nil else {
      throw ParseError(field: "method", message: "a GET takes neither a body nor a form")
    }
    if case .form = content, headers.contains(where: \.isContentType) {
      throw ParseError(field: "headers", message: "the header Content-Type of a form is made, with its boundary")
    }
    let bytes = headers.reduce(0) { $0 + $1.line.utf8.count }
    guard bytes <= Self.maxHeaderBytes else {
      throw ParseError(field: "headers", message: "headers may have \(Self.maxHeaderBytes) bytes; these have \(bytes)")
    }
    if let content, content.bytes > Self.maxContentBytes {
      throw ParseError(
        field: content.field,
        message: "a \(content.field) may have \(Self.maxContentBytes) bytes; this one has \(content.bytes)")
    }
    (self.method, self.headers, self.content) = (method, headers, content)
  }

  /// The longest body or form, in bytes: escaped as JSON, too, it fits a line of a manifest.
  package static let maxContentBytes = 128 << 10

  /// The longest header fields together, in bytes.
  package static let maxHeaderBytes = 64 << 10

  /// Whether the answer may be used again, and the server be asked whether it has changed.
  package var isCacheable: Bool { method == .get }

  /// What is asked where a redirect leads, as curl and browsers do: after 303, and after 301 and 302 a POST, by GET and
  /// without the content; after 307 and 308 the same, wherever it leads.
  /// - Parameter leavesOrigin: Whether scheme, host or port are others there: then only the type of the content is left
  ///   of the header fields.
  func redirected(status: Int, leavesOrigin: Bool) -> SourceRequest {
    var next = self
    if status == 303 || (301...302).contains(status) && method == .post {
      next.method = .get
      next.content = nil
      next.headers.removeAll(where: \.isContentType)
    }
    if leavesOrigin { next.headers.removeAll { !$0.isContentType } }
    return next
  }

  /// A request that makes no sense.
  package struct ParseError: Error, Sendable {
    /// The field of an entry that is to blame.
    package let field: String

    /// For people. Without values, which may be secrets.
    package let message: String
  }
}

extension SourceRequest.Content {
  /// The field of an entry that says it.
  fileprivate var field: String {
    switch self {
    case .body: "body"
    case .form: "form"
    }
  }

  /// What its texts take, without what separates them.
  fileprivate var bytes: Int {
    switch self {
    case .body(let text): text.utf8.count
    case .form(let parts):
      parts.reduce(0) { sum, part in
        let texts = [part.name, part.content, part.filename ?? "", part.type ?? ""]
        return texts.reduce(sum) { $0 + $1.utf8.count }
      }
    }
  }
}

import System

/// A request for a source without its URL: method, header fields and content.
package struct SourceRequest: Sendable, Hashable {
  /// The supported methods; raw values are sent.
  package enum Method: String, Sendable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case query = "QUERY"
  }

  /// The content of the request (RFC 9110, section 6.4).
  package enum Content: Sendable, Hashable {
    /// A text, sent in UTF-8, as `application/x-www-form-urlencoded` unless a header field gives another type.
    case body(String)
    /// A form, as `multipart/form-data` (RFC 7578).
    case form([FormPart])

    /// The files of a form, in its order.
    fileprivate var files: [SourceLocation] {
      guard case .form(let parts) = self else { return [] }
      return parts.compactMap { if case .file(let location) = $0.content { location } else { nil } }
    }

    /// The field of a manifest's entry for it.
    fileprivate var field: String {
      switch self {
      case .body: "body"
      case .form: "form"
      }
    }

    /// The length of its texts in UTF-8, without delimiters and without the contents of files.
    fileprivate var bytes: Int {
      switch self {
      case .body(let text): text.utf8.count
      case .form(let parts):
        parts.reduce(0) { sum, part in
          let texts = [part.name, part.content.text, part.filename ?? "", part.type ?? ""]
          return texts.reduce(sum) { $0 + $1.utf8.count }
        }
      }
    }
  }

  /// Default: `GET`.
  package private(set) var method = Method.get

  /// Header fields besides those that libcurl and the engine set, in the order in which they are sent. May contain secrets.
  package private(set) var headers: [HeaderField] = []

  /// Default: `nil`, none. May contain secrets.
  package private(set) var content: Content?

  package static let plain = SourceRequest()

  private init() {}

  /// - Throws: `ParseError` when a GET has a content, the header fields of a form have a `Content-Type`, or header fields
  ///   or content are too long.
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
    let files = content?.files.count ?? 0
    guard files <= Self.maxFiles else {
      throw ParseError(field: "form", message: "a form may have \(Self.maxFiles) files; this one has \(files)")
    }
    (self.method, self.headers, self.content) = (method, headers, content)
  }

  /// The longest body or form, in bytes: even escaped as JSON it fits a line of a manifest.
  package static let maxContentBytes = 128 << 10

  /// The most files of a form.
  package static let maxFiles = 16

  /// The longest header fields together, in bytes.
  package static let maxHeaderBytes = 64 << 10

  /// The files that its form sends.
  package var files: [SourceLocation] { content?.files ?? [] }

  /// Whether the response may be cached and revalidated.
  package var isCacheable: Bool { method == .get }

  /// Whether it must not be sent over a kept connection: when the server has closed that, libcurl sends the request again,
  /// although the server may have received it (RFC 9110, section 9.2.2).
  var needsNewConnection: Bool { method != .get }

  /// The header fields with others, except those that are given already.
  func headers(with others: [HeaderField]) -> [HeaderField] {
    guard !others.isEmpty else { return headers }
    let names = Set(headers.map { $0.name.lowercased() })
    return headers + others.filter { !names.contains($0.name.lowercased()) }
  }

  /// The request with a URL as its `Referer` where that is `*`, without userinfo and fragment (RFC 9110, section 10.1.3).
  func referring(to location: SourceLocation) -> SourceRequest {
    guard headers.contains(where: \.isOwnReferer) else { return self }
    var request = self
    let url = redacted(location.requestText, valid: true)
    // A valid URL has no control characters.
    request.headers = headers.map { field in field.isOwnReferer ? (try? HeaderField(field.name, url)) ?? field : field }
    return request
  }

  /// The request for a redirect's target, by the rules of curl and browsers: a GET without content after 303, and for a POST
  /// after 301 and 302; the same request otherwise.
  /// - Parameter leavesOrigin: Whether the target has another scheme, host or port: then all header fields but the type
  ///   of the content are removed.
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

  /// An invalid request.
  package struct ParseError: Error, Sendable {
    /// The invalid field of a manifest's entry.
    package let field: String

    /// For people. Contains no values, which may be secrets.
    package let message: String
  }
}

/// A part of a form that is sent as `multipart/form-data`.
package struct FormPart: Sendable, Hashable {
  package enum Content: Sendable, Hashable {
    /// Sent in UTF-8. May be a secret.
    case text(String)
    /// The bytes of a file beneath the file root.
    case file(SourceLocation)

    /// The text, or the path.
    fileprivate var text: String {
      switch self {
      case .text(let text): text
      case .file(let location): location.requestText
      }
    }
  }

  package let name: String
  package let content: Content

  /// Default: the last component of a file's path. `nil` for a text: the part is a field.
  package let filename: String?

  /// The part's `Content-Type`. Default: that of a file by the extension of its name, or else of its path. `nil` for a text: none for a field, and
  /// with a `filename` the type that libcurl derives from it.
  package let type: String?

  /// - Throws: `SourceRequest.ParseError` for a name or file name that is empty or has control characters, and for a type
  ///   that is not `TYPE/SUBTYPE`, with or without parameters, in ASCII.
  package init(
    name: String, content: Content, filename: String? = nil, type: String? = nil
  ) throws(SourceRequest.ParseError) {
    guard !name.isEmpty, !Self.hasControls(name) else {
      throw Self.problem("a field of a form needs a name without control characters")
    }
    var (filename, type) = (filename, type)
    if case .file(let location) = content {
      guard !location.lastPathComponent.isEmpty else { throw Self.problem("the file of \"\(name)\" is a folder") }
      let names = [filename, location.lastPathComponent].compactMap { $0 }
      filename = names[0]
      type = type ?? names.lazy.compactMap(Self.type(ofName:)).first ?? "application/octet-stream"
    }
    guard filename.map({ !$0.isEmpty && !Self.hasControls($0) }) ?? true else {
      throw Self.problem("the filename of \"\(name)\" is empty or has control characters")
    }
    if let type {
      let parts = type.prefix { $0 != ";" }.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 2, !parts.contains(where: \.isEmpty), type.utf8.allSatisfy({ (0x20..<0x7f).contains($0) })
      else { throw Self.problem("the type of \"\(name)\" must be a media type such as image/png") }
    }
    self.name = name
    self.content = content
    self.filename = filename
    self.type = type
  }

  /// Media types by extension. libcurl knows fewer, and sends none for others.
  private static let types = [
    "avif": "image/avif", "bmp": "image/bmp", "csv": "text/csv", "gif": "image/gif", "heic": "image/heic",
    "html": "text/html", "jpeg": "image/jpeg", "jpg": "image/jpeg", "json": "application/json",
    "pdf": "application/pdf", "png": "image/png", "svg": "image/svg+xml", "tif": "image/tiff", "tiff": "image/tiff",
    "txt": "text/plain", "webp": "image/webp", "xml": "application/xml",
  ]

  private static func type(ofName name: String) -> String? {
    name.cut(atLast: ".").flatMap { types[$0.after.lowercased()] }
  }

  private static func hasControls(_ text: String) -> Bool { text.utf8.contains { $0 < 0x20 || $0 == 0x7f } }

  private static func problem(_ message: String) -> SourceRequest.ParseError {
    SourceRequest.ParseError(field: "form", message: message)
  }
}

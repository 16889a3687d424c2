import CCurl

/// Owns a form of libcurl's (`curl_mime`), which holds copies of names and contents.
final class MIMEForm {
  let raw: OpaquePointer

  /// - Parameter easy: The handle that will send it.
  init(_ parts: [FormPart], for easy: EasyHandle) {
    // Only for want of a few bytes of memory, as wherever Swift allocates.
    guard let raw = curl_mime_init(easy.raw) else { fatalError("libcurl cannot make a form") }
    self.raw = raw
    for part in parts { add(part) }
  }

  deinit { curl_mime_free(raw) }

  private func add(_ part: FormPart) {
    let new = curl_mime_addpart(raw)
    // These calls fail only when memory is exhausted. The length is given because a content may have NUL bytes.
    var codes = [
      curl_mime_name(new, part.name),
      part.content.withCString { curl_mime_data(new, $0, part.content.utf8.count) },
    ]
    if let filename = part.filename { codes.append(curl_mime_filename(new, filename)) }
    if let type = part.type { codes.append(curl_mime_type(new, type)) }
    precondition(codes.allSatisfy { $0 == CURLE_OK }, "libcurl cannot make a part of a form")
  }
}

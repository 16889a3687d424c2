import CCurl
import Glibc

/// Owns a form of libcurl (`curl_mime`), which contains copies of names and texts, and reads files while it is sent.
final class MIMEForm {
  let raw: OpaquePointer
  private var readers: [FormFileReader] = []

  /// Why a file could not be sent; `nil` without such a failure.
  var failure: TransferError? { readers.lazy.compactMap(\.failure).first }

  /// - Parameters:
  ///   - files: The open files of the parts.
  ///   - easy: The handle that will send it.
  init(_ parts: [FormPart], _ files: FormFiles, for easy: EasyHandle) {
    // Fails only when memory is exhausted, as any allocation of Swift.
    guard let raw = curl_mime_init(easy.raw) else { fatalError("libcurl cannot make a form") }
    self.raw = raw
    for part in parts { add(part, files) }
  }

  deinit { curl_mime_free(raw) }

  private func add(_ part: FormPart, _ files: FormFiles) {
    let new = curl_mime_addpart(raw)
    // These calls fail only when memory is exhausted.
    var codes = [curl_mime_name(new, part.name)]
    switch part.content {
    // The length is given because a text may have NUL bytes.
    case .text(let text): codes.append(text.withCString { curl_mime_data(new, $0, text.utf8.count) })
    case .file(let location):
      guard let file = files[location] else { preconditionFailure("a file of a form was not opened") }
      let reader = FormFileReader(file)
      readers.append(reader)
      let context = Unmanaged.passUnretained(reader).toOpaque()
      codes.append(curl_mime_data_cb(new, curl_off_t(file.size), readFile, seekFile, nil, context))
    }
    if let filename = part.filename { codes.append(curl_mime_filename(new, filename)) }
    if let type = part.type { codes.append(curl_mime_type(new, type)) }
    precondition(codes.allSatisfy { $0 == CURLE_OK }, "libcurl cannot make a part of a form")
  }
}

/// libcurl's position in a file of a form.
private final class FormFileReader {
  private let file: FormFile
  private(set) var failure: TransferError?
  var offset = 0

  init(_ file: FormFile) { self.file = file }

  /// Reads the next bytes. Returns their number, 0 at the end; `nil` after a failure.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    do throws(TransferError) {
      let count = try file.read(into: buffer, at: offset)
      offset += count
      return count
    } catch {
      failure = error
      return nil
    }
  }
}

private let readFile: curl_read_callback = { buffer, size, count, context in
  guard let context else { return Int(CURL_READFUNC_ABORT) }
  let reader = Unmanaged<FormFileReader>.fromOpaque(context).takeUnretainedValue()
  return reader.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
    ?? Int(CURL_READFUNC_ABORT)
}

/// libcurl rewinds a form that it sends again.
private let seekFile: curl_seek_callback = { context, offset, origin in
  guard let context, origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
  Unmanaged<FormFileReader>.fromOpaque(context).takeUnretainedValue().offset = Int(offset)
  return CURL_SEEKFUNC_OK
}

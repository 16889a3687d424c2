import CCurl

/// libcurl and the libraries that it uses.
package enum TransferLibraries {
  /// Why libcurl, or one of its functions, cannot be loaded, in the words of the dynamic linker; nil when it can. A program that
  /// needs libcurl and cannot load it ends with exit status 70.
  package static var trouble: String? { ccurl_trouble().map { String(cString: $0) } }

  /// Their names and versions, such as `libcurl/7.88.1 OpenSSL/3.0.15 zlib/1.2.13 nghttp2/1.52.0`.
  package static var versions: [(name: String, version: String)] {
    String(cString: curl_version()).split(separator: " ").map { part in
      let fields = part.split(separator: "/", maxSplits: 1)
      return (String(fields[0]), fields.count > 1 ? String(fields[1]) : "")
    }
  }
}

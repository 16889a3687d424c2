import Glibc

/// Calls a function with an array of C strings that ends with a null pointer.
func withCStrings<Result>(
  _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  let copies = strings.map { strdup($0) } + [nil]
  defer { for copy in copies { free(copy) } }
  return copies.withUnsafeBufferPointer { buffer in
    // A non-empty array has an address.
    body(buffer.baseAddress.unsafelyUnwrapped)
  }
}

import Glibc

/// The locale of the C library, by which it reads names of hosts and patterns of files.
package enum ProcessLocale {
  /// Sets UTF-8, once, whatever the environment says.
  package static let setUTF8: Void = { _ = setlocale(LC_CTYPE, "C.UTF-8") }()
}

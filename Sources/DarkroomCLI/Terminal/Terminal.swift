import Glibc

/// One of the program's standard streams, which may be a terminal.
struct Terminal: Sendable {
  /// Columns and rows.
  struct Size: Sendable, Equatable {
    var columns = 80
    var rows = 24
  }

  let descriptor: Int32

  let isTerminal: Bool

  /// Whether its cursor can be moved: `TERM` is set, and is not `dumb`.
  let canMoveCursor: Bool

  /// Whether text is coloured: not if `NO_COLOR` is set and not empty (no-color.org).
  let hasColour: Bool

  /// The device and inode of the stream that systemd has connected to its journal, as `DEVICE:INODE`; nil without one.
  let journalStream: String?

  init(descriptor: Int32, environment: [String: String]) {
    self.descriptor = descriptor
    isTerminal = isatty(descriptor) == 1
    canMoveCursor = isTerminal && !["", "dumb"].contains(environment["TERM"] ?? "")
    hasColour = canMoveCursor && (environment["NO_COLOR"] ?? "").isEmpty
    journalStream = environment["JOURNAL_STREAM"]
  }

  /// Its current size; 80 columns of 24 rows where that is not known.
  var size: Size {
    var (size, known) = (winsize(), Size())
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return known }
    if size.ws_col > 0 { known.columns = Int(size.ws_col) }
    if size.ws_row > 0 { known.rows = Int(size.ws_row) }
    return known
  }

  /// Whether the program is in its foreground: in the background the shell's prompt is shown. Yes if it is not the
  /// program's controlling terminal.
  var isForeground: Bool {
    let group = tcgetpgrp(descriptor)
    return group < 0 || group == getpgrp()
  }

  /// Whether a write would not wait: false while its output is stopped (Ctrl-S).
  var isWritable: Bool {
    var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&state, 1, 0) > 0 && state.revents & Int16(POLLOUT) != 0
  }
}

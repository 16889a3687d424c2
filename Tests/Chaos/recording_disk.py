"""A disk that records what reaches it: one file in a FUSE file system, for a loop device. From the record any state that a
power cut may leave can be made, also with the writes between two flushes in another order: what dm-log-writes does, for
kernels without the device mapper.

Speaks the kernel's FUSE protocol 7.31 (linux/fuse.h) itself, so that it needs no library.
"""
import ctypes
import errno
import os
import random
import stat
import struct

WRITE, FLUSH = 1, 2
RECORD = struct.Struct("<BQI")
MAXIMUM_WRITE = 128 << 10
LOOKUP, FORGET, GETATTR, SETATTR, OPEN, READ, WRITE_CALL, STATFS, RELEASE, FSYNC = 1, 2, 3, 4, 14, 15, 16, 17, 18, 20
FLUSH_CALL, INIT, OPENDIR, READDIR, RELEASEDIR, ACCESS, INTERRUPT, BATCH_FORGET = 25, 26, 27, 28, 29, 34, 36, 42


class RecordingDisk:
    """Serves FOLDER/disk, with the bytes of a file to begin with, and records writes and flushes in another file."""

    def __init__(self, folder, contents, record):
        self.folder = folder
        self.size = len(contents)
        self.bytes = bytearray(contents)
        self.record = os.open(record, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self.device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self.device},rootmode=40000,user_id=0,group_id=0".encode()
        library = ctypes.CDLL(None, use_errno=True)
        if library.mount(b"darkroom-power-cuts", folder.encode(), b"fuse", 6, options) != 0:
            raise OSError(ctypes.get_errno(), "mounting a FUSE file system failed")

    def serve(self):
        """Answers the kernel until the file system is unmounted."""
        while True:
            try:
                request = os.read(self.device, MAXIMUM_WRITE + 8192)
            except OSError as error:
                if error.errno in (errno.EINTR, errno.EAGAIN, errno.ENOENT):
                    continue
                return  # ENODEV: unmounted
            _, call, unique, node = struct.unpack_from("<IIQQ", request)
            if call in (FORGET, BATCH_FORGET, INTERRUPT):
                continue
            answer = self.answer(call, node, memoryview(request)[40:])
            code, data = (-answer, b"") if isinstance(answer, int) else (0, answer)
            os.write(self.device, struct.pack("<IiQ", 16 + len(data), code, unique) + data)

    def answer(self, call, node, body):
        """The answer's bytes, or a number of errno."""
        if call == INIT:
            return struct.pack("<IIIIHHIIHHIIIII", 7, 31, 1 << 20, 1 << 5, 16, 12, MAXIMUM_WRITE, 1, 32, 0, 0, 0, 0, 0, 0)
        if call == LOOKUP:
            if bytes(body).rstrip(b"\0") != b"disk":
                return errno.ENOENT
            return struct.pack("<QQQQII", 2, 0, 3600, 3600, 0, 0) + self.attributes(2)
        if call in (GETATTR, SETATTR):
            return struct.pack("<QII", 3600, 0, 0) + self.attributes(node)
        if call in (OPEN, OPENDIR):
            return struct.pack("<QII", 1, 0, 0)
        if call == READ:
            _, offset, count = struct.unpack_from("<QQI", body)
            return bytes(self.bytes[offset:offset + count])
        if call == WRITE_CALL:
            _, offset, count = struct.unpack_from("<QQI", body)
            data = bytes(body[40:40 + count])
            self.bytes[offset:offset + count] = data
            os.write(self.record, RECORD.pack(WRITE, offset, count) + data)
            return struct.pack("<II", count, 0)
        if call == FSYNC:
            os.write(self.record, RECORD.pack(FLUSH, 0, 0))
            return b""
        if call == STATFS:
            return struct.pack("<QQQQQIIII24x", self.size >> 12, 0, 0, 2, 0, 4096, 255, 4096, 0)
        if call in (READDIR, RELEASE, RELEASEDIR, FLUSH_CALL, ACCESS):
            return b""
        return errno.ENOSYS

    def attributes(self, node):
        size, mode = (self.size, stat.S_IFREG | 0o600) if node == 2 else (0, stat.S_IFDIR | 0o700)
        return struct.pack("<QQQQQQIIIIIIIIII", node, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def start(folder, image, record):
    """Serves in a process of its own: the kernel's writes must not wait for this one. Returns its process id."""
    with open(image, "rb") as file:
        contents = file.read()
    ready, says = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            disk = RecordingDisk(folder, contents, record)
            os.write(says, b"x")
            os.close(says)
            disk.serve()
        finally:
            os._exit(0)
    os.close(says)
    try:
        if os.read(ready, 1) != b"x":
            raise OSError(errno.ENOSYS, "there is no FUSE here")
    finally:
        os.close(ready)
    return child


class Record:
    """What has reached a recording disk."""

    def __init__(self, path):
        self.events = []
        with open(path, "rb") as file:
            data = file.read()
        place = 0
        while place + RECORD.size <= len(data):
            kind, offset, count = RECORD.unpack_from(data, place)
            place += RECORD.size
            self.events.append((kind, offset, data[place:place + count]))
            place += count

    def state(self, image, end, sector=4096, chance=random):
        """The disk's bytes after a power cut at event `end`: all before the last flush, and some of what came after it."""
        disk = bytearray(image)
        flushed = max((index for index in range(end) if self.events[index][0] == FLUSH), default=0)
        kept = chance.choice([0.0, 0.3, 0.7, 1.0])
        for index in range(end):
            kind, offset, data = self.events[index]
            if kind != WRITE:
                continue
            for part in range(0, len(data), sector if index >= flushed else len(data)):
                if index < flushed or chance.random() < kept:
                    piece = data[part:part + (sector if index >= flushed else len(data))]
                    disk[offset + part:offset + part + len(piece)] = piece
        return disk


def count_events(path):
    """How many events a record has by now."""
    return len(Record(path).events)

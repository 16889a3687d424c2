"""An HTTP server of small pictures, which logs what it is asked for.

    picture_server.py                prints its URL, serves until it is ended, and prints each request
    picture_server.py FOLDER         writes files into a folder, one for each of FILES

A path ends in KIND/MILLISECONDS: what is answered, and after how long.

    p0 … p9    a picture of 24 × 18 pixels, with an entity tag
    large      a picture that differs from run to run of this program in nothing, and takes some milliseconds to filter
    bare       a picture, without an entity tag or a date
    missing    404
    text       200, and no picture
    once       503 the first time, then a picture
    cut        half of a picture the first time, then the picture, or the rest of it
    list       what the part before says in Base64, with the URL that has the first part for `URL`; with an entity tag
"""
import asyncio
import base64
import dataclasses
import hashlib
import os
import struct
import sys
import threading
import time
import zlib


def png(width, height, number):
    """A PNG that differs from those of other numbers."""
    rows = b"".join(
        b"\0" + bytes((x * (number + 1) + y * channel * 7) % 256 for x in range(width) for channel in range(3))
        for y in range(height))
    chunk = lambda kind, data: (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


PICTURES = {f"p{number}": png(24, 18, number) for number in range(10)} | {"large": png(320, 240, 11)}
PICTURES |= {"once": png(24, 18, 12), "cut": png(64, 48, 13), "bare": png(24, 18, 14)}
DIGESTS = {kind: hashlib.sha256(picture).hexdigest() for kind, picture in PICTURES.items()}


# The names of files, and of which kind they are.
FILES = {"n0": "p0", "n1": "p1", "n2": "p2", "n3": "large", "n4": "p4", "n5": "text"}
TEXT = b"<p>This is no picture.</p>"


def write_files(folder):
    """Writes the files into a folder, which it makes."""
    os.makedirs(folder)
    for name, kind in FILES.items():
        with open(f"{folder}/{name}.png", "wb") as file:
            file.write(PICTURES.get(kind, TEXT))


def list_path(text, milliseconds):
    """The path of a list, after the first part."""
    return f"{base64.urlsafe_b64encode(text.encode()).decode()}/list/{milliseconds}"


@dataclasses.dataclass
class Request:
    """What was asked for, when (seconds of a clock that never jumps), and the status; None until it is answered."""

    time: float
    path: str
    status: int | None = None


class PictureServer:
    """Serves on loopback for as long as the process lives. `requests` holds what was asked for under each first part of a path."""

    def __init__(self, on_request=lambda request: None, address="127.0.0.1"):
        self.requests = {}
        self.seen = set()
        self.on_request = on_request
        self.address = address
        started = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.serve(started)), daemon=True).start()
        started.wait()

    async def serve(self, started):
        server = await asyncio.start_server(self.converse, self.address, 0, backlog=1024)
        self.url = f"http://{self.address}:%d" % server.sockets[0].getsockname()[1]
        started.set()
        await server.serve_forever()

    async def converse(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                path = head[0].split(" ")[1]
                headers = {key.lower(): value.strip() for key, _, value in (line.partition(":") for line in head[1:])}
                request = Request(time.monotonic(), path)
                self.requests.setdefault(path.split("/")[1], []).append(request)
                self.on_request(request)
                kind, milliseconds = path.split("/")[-2:]
                await asyncio.sleep(int(milliseconds) / 1000)
                request.status, answer, is_cut = self.answer(path, kind, headers)
                writer.write(answer)
                await writer.drain()
                if is_cut:
                    break
        except (asyncio.IncompleteReadError, ConnectionError, ValueError, IndexError):
            pass
        finally:
            writer.close()

    def answer(self, path, kind, headers):
        """The status, the whole answer, and whether the connection is closed after it."""
        is_first = path not in self.seen
        self.seen.add(path)
        tag = f'"{kind}"'
        if kind == "missing":
            return self.encoded(404)
        if kind == "text":
            return self.encoded(200, TEXT)
        if kind == "list":
            return self.list(path, headers)
        if kind == "once" and is_first:
            return self.encoded(503, b"", "Retry-After: 0\r\n")
        picture = PICTURES[kind]
        if kind == "bare":
            return self.encoded(200, picture)
        if kind == "cut" and is_first:
            status, answer, _ = self.encoded(200, picture, f"ETag: {tag}\r\n")
            return 0, answer[:-len(picture) // 2], True
        if headers.get("if-none-match") == tag:
            return self.encoded(304, b"", f"ETag: {tag}\r\n")
        if headers.get("range", "").startswith("bytes=") and headers.get("if-range") == tag:
            first = int(headers["range"][6:].partition("-")[0])
            place = f"Content-Range: bytes {first}-{len(picture) - 1}/{len(picture)}\r\n"
            return self.encoded(206, picture[first:], f"ETag: {tag}\r\n{place}")
        return self.encoded(200, picture, f"ETag: {tag}\r\n")

    def list(self, path, headers):
        """The answer to a request for a list."""
        parts = path.split("/")
        text = base64.urlsafe_b64decode(parts[-3]).replace(b"URL", f"{self.url}/{parts[1]}".encode())
        tag = f'"{hashlib.sha256(text).hexdigest()}"'
        is_known = headers.get("if-none-match") == tag
        return self.encoded(304 if is_known else 200, b"" if is_known else text, f"ETag: {tag}\r\n")

    @staticmethod
    def encoded(status, body=b"", headers=""):
        length = "" if status == 304 else f"Content-Length: {len(body)}\r\n"
        return status, f"HTTP/1.1 {status} X\r\n{headers}{length}\r\n".encode() + body, False


if __name__ == "__main__":
    if sys.argv[1:]:
        sys.exit(write_files(sys.argv[1]))
    print(PictureServer(lambda request: print(f"{request.time:.3f} {request.path}", flush=True)).url, flush=True)
    threading.Event().wait()

"""cluster_server.py HOSTS SECONDS RECORD: serves small pictures on one port of the addresses 127.0.1.1, 127.0.1.2 and so on, each
answer after so many seconds; prints the port. Writes a line into the record when a request begins:

  ADDRESS REQUESTS-AT-ONCE STATUS PATH

where REQUESTS-AT-ONCE are those of this address that have begun and not ended, with this one. Pictures are the same each time;
/fails.jpg is never there.
"""
import asyncio
import collections
import hashlib
import io
import os
import sys
import zlib

FAILS = "/fails.jpg"
KINDS = 32


def address(host):
    """The address of a host; they are counted from 0."""
    return f"127.0.1.{host + 1}"


def pictures():
    """Small JPEGs that differ."""
    from PIL import Image
    found = []
    for kind in range(KINDS):
        image = Image.new("RGB", (64, 64))
        image.putdata([((x * 4 + kind * 8) % 256, y * 4, (x * y + kind) % 256) for y in range(64) for x in range(64)])
        file = io.BytesIO()
        image.save(file, "JPEG", quality=85)
        found.append(file.getvalue())
    return found


class Connection(asyncio.Protocol):
    active = collections.Counter()
    bodies = pictures()
    delay = 0.0
    record = -1

    def connection_made(self, transport):
        self.transport, self.read, self.timer = transport, b"", None
        self.address = transport.get_extra_info("sockname")[0]

    def data_received(self, data):
        self.read += data
        if b"\r\n\r\n" in self.read and self.timer is None:
            head, self.read = self.read.split(b"\r\n\r\n", 1)
            self.begin(head.decode("latin-1").split("\r\n"))

    def begin(self, lines):
        path = lines[0].split(" ")[1]
        headers = dict(line.lower().split(": ", 1) for line in lines[1:])
        body = self.bodies[zlib.crc32(path.encode()) % KINDS]
        tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        status = 404 if path == FAILS else 304 if headers.get("if-none-match") == tag else 200
        self.active[self.address] += 1
        os.write(self.record, f"{self.address} {self.active[self.address]} {status} {path}\n".encode())
        content = body if status == 200 else b""
        answer = f"HTTP/1.1 {status} -\r\nETag: {tag}\r\nContent-Type: image/jpeg\r\n".encode()
        answer += b"" if status == 304 else f"Content-Length: {len(content)}\r\n".encode()
        self.timer = asyncio.get_running_loop().call_later(self.delay, self.end, answer + b"\r\n" + content)

    def end(self, answer):
        self.finish()
        self.transport.write(answer)
        self.data_received(b"")

    def finish(self):
        self.timer = None
        self.active[self.address] -= 1

    def connection_lost(self, _):
        if self.timer:
            self.timer.cancel()
            self.finish()


async def serve(hosts):
    loop = asyncio.get_running_loop()
    first = await loop.create_server(Connection, address(0), 0)
    port = first.sockets[0].getsockname()[1]
    await loop.create_server(Connection, [address(host) for host in range(1, hosts)], port)
    print(port, flush=True)
    await first.serve_forever()


if __name__ == "__main__":
    Connection.delay = float(sys.argv[2])
    Connection.record = os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    asyncio.run(serve(int(sys.argv[1])))

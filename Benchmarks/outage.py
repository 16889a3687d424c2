"""Hosts that stop answering in the middle of a job: `script/bench outage`.

    outage.py [--entries N] [--seconds S] [--kind KIND]… PROGRAM [OTHER_PROGRAM]

1 200 entries of 100 hosts, `--retries 2`. When half of the entries were requested, all hosts fail at once for 20 s, in one of
these ways, each in a run of its own; then all work again:

    refused    no connection is accepted
    silent     connections are accepted, and nothing is answered
    reset      requests are answered by a reset of the connection
    closed     requests are answered by the end of the connection
    broken     answers break off in the middle of the body
    502, 503   answers of a gateway whose server is away

Hosts are addresses on loopback, answers come after 20 ms, pictures have 1 KB. Not simulated: names that fail to resolve,
handshakes of TLS, connections that are not answered, hosts that recover one by one.

Asked: no row failed, and the first picture is there at most 20 s after the end of the outage.
"""
import argparse, asyncio, pathlib, socket, struct, tempfile, threading, time

import photographs, processes

ADDRESSES = [f"127.0.1.{number}" for number in range(1, 101)]
KINDS = ["refused", "silent", "reset", "closed", "broken", "502", "503"]


class Outage:
    """A server on all addresses that fails for a while when half of the entries were requested."""

    def __init__(self, kind, options, picture):
        self.kind, self.options, self.picture = kind, options, picture
        self.asked, self.is_down, self.ended = 0, False, None
        self.connections, self.held = set(), []
        self.started = threading.Event()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_until_complete, args=(self.serve(),), daemon=True)

    def __enter__(self):
        self.thread.start()
        self.started.wait()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.stopping.set)
        self.thread.join()

    async def serve(self):
        self.stopping = asyncio.Event()
        self.port = 0
        await self.listen()
        self.started.set()
        await self.stopping.wait()

    async def listen(self):
        self.server = await asyncio.start_server(self.answer, "0.0.0.0", self.port, backlog=1024)
        self.port = self.server.sockets[0].getsockname()[1]

    async def fail(self):
        self.is_down = True
        if self.kind == "refused":
            self.server.close()
        for writer in list(self.connections):
            self.end(writer)
        await asyncio.sleep(self.options.seconds)
        self.is_down, self.ended = False, time.time()
        if self.kind == "refused":
            await self.listen()
        for writer in self.held:
            writer.close()

    def end(self, writer):
        """What happens to connections that are open when the outage begins, and to requests during it."""
        if writer.is_closing():
            return
        match self.kind:
            case "refused" | "reset":
                writer.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.close()
            case "closed":
                writer.close()
            case "silent":
                self.held.append(writer)

    async def answer(self, reader, writer):
        self.connections.add(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.asked += 1
                if self.asked == self.options.entries // 2:
                    asyncio.ensure_future(self.fail())
                await asyncio.sleep(.02)
                number = int(head.split(b"/p/")[1][:6])
                body = photographs.numbered(self.picture, number)
                if not self.is_down:
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                elif self.kind == "broken":
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body[:len(body) // 2])
                    writer.close()
                elif self.kind.isdigit():
                    writer.write(b"HTTP/1.1 %s X\r\nContent-Length: 0\r\n\r\n" % self.kind.encode())
                else:
                    return self.end(writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.connections.discard(writer)
            if self.kind != "silent" or not self.is_down:
                writer.close()


def measure(program, kind, options, picture):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with Outage(kind, options, picture) as outage:
            (folder / "outage.txt").write_text("".join(
                f"http://{ADDRESSES[number % len(ADDRESSES)]}:{outage.port}/p/{number:06}.jpg\n"
                for number in range(options.entries)))
            command = processes.darkroom(program, folder, "outage.txt", "--retries", "2")
            result = processes.run(command, folder, limit=240)
            asked, ended = outage.asked, outage.ended
        states = processes.outcomes(folder, "outage")
        later = [each - ended for each in processes.picture_times(folder) if ended and each > ended]
        goes_on = f"{later[0]:.1f}" if later else "never"
        print(f"| {program[-50:]} | {kind} | {result.wall:.1f} | {result.cpu:.1f} | {result.status} "
              f"| {processes.words(states)} | {goes_on} | {asked} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=1200)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("programs", nargs="+")
    options = parser.parse_intermixed_args()
    print("| program | kind | wall, s | CPU, s | exit code | rows | goes on after, s | requests |\n|" + " --- |" * 8)
    for kind in options.kind or KINDS:
        for program in options.programs:
            measure(program, kind, options, photographs.thumbnail())


if __name__ == "__main__":
    main()

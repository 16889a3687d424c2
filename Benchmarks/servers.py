"""HTTP/1.1 servers for the benchmarks: one asyncio loop in a process of its own, which delays answers and records them.

What is simulated: distance, as a delay before the first answer of a connection (the handshake) and before each answer. What
is not: loss, limited bandwidth, TLS, redirects, requests with bodies. An answer is sent whole once its delay is over.
"""
import asyncio, collections, dataclasses, multiprocessing, os, socket, time

Asked = collections.namedtuple("Asked", "time host target headers")
Served = collections.namedtuple("Served", "time host target status bytes")


@dataclasses.dataclass
class Answer:
    """What a server sends, `delay` seconds after the request."""
    status: int = 200
    body: bytes = b""
    headers: str = ""
    delay: float = 0.0

    def encoded(self):
        return (f"HTTP/1.1 {self.status} Benchmark\r\nContent-Type: image/jpeg\r\n{self.headers}"
                + (f"Content-Length: {len(self.body)}\r\n" if self.status != 304 else "") + "\r\n").encode() + self.body


class Connection(asyncio.Protocol):
    """One connection of a client: a request, its answer, the next request."""

    def __init__(self, loop, state):
        self.loop, self.state, self.pending = loop, state, b""

    def connection_made(self, transport):
        self.transport = transport
        self.ready = self.loop.time() + self.state.handshake
        self.state.connections += 1
        self.state.transports.add(transport)

    def connection_lost(self, error):
        self.state.transports.discard(self.transport)

    def data_received(self, data):
        self.pending += data
        while b"\r\n\r\n" in self.pending:
            head, self.pending = self.pending.split(b"\r\n\r\n", 1)
            first, *lines = head.decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            target = first.split(" ")[1]
            asked = Asked(time.time(), headers.get("host", ""), target, headers)
            self.state.asked.value += 1
            self.state.targets[target] += 1
            answer = self.state.respond(asked)
            self.loop.call_at(max(self.loop.time(), self.ready) + answer.delay, self.send, asked, answer)

    def send(self, asked, answer):
        if not self.transport.is_closing():
            self.transport.write(answer.encoded())
            self.state.served.append(Served(time.time(), asked.host, asked.target, answer.status, len(answer.body)))


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


class Servers:
    """Runs servers at `addresses` and `port` (0: any, the same for all) while the context lasts.

    `respond` makes an Answer of what was Asked. `handshake` is the delay in seconds before the first answer of a connection.
    `datagrams` maps addresses to factories of datagram protocols of the same loop.

    `asked.value` is the number of requests so far. At the end there are: `targets`, how often each was asked for; `served`,
    the answers that were sent to clients which were still there; `connections`, their number; `counted` of each datagram
    protocol; `cpu`, seconds.
    """

    def __init__(self, respond, addresses=("127.0.0.1",), port=0, handshake=0.0, datagrams=None):
        self.respond, self.addresses, self.port, self.handshake = respond, list(addresses), port or free_port(), handshake
        self.datagrams, self.connections, self.served, self.transports = datagrams or {}, 0, [], set()
        self.targets = collections.Counter()
        context = multiprocessing.get_context("fork")
        self.pipe, self.far_end = context.Pipe()
        self.asked = context.Value("L", 0, lock=False)
        self.process = context.Process(target=lambda: asyncio.run(self.serve()), daemon=True)

    def __enter__(self):
        self.process.start()
        self.far_end.close()
        self.pipe.recv()
        return self

    def __exit__(self, *_):
        self.pipe.send("stop")
        self.targets, self.served, self.connections, self.counted, self.cpu = self.pipe.recv()
        self.process.join()

    def close(self):
        """Ends all connections; until `open`, new ones are refused."""
        self.pipe.send("close")
        self.pipe.recv()

    def open(self):
        self.pipe.send("open")
        self.pipe.recv()

    async def serve(self):
        loop = asyncio.get_running_loop()
        self.pipe.close()
        commands = asyncio.Queue()
        loop.add_reader(self.far_end.fileno(), lambda: commands.put_nowait(self.far_end.recv()))
        protocols = []
        for address, factory in self.datagrams.items():
            protocols.append((await loop.create_datagram_endpoint(factory, local_addr=address))[1])
        server = await self.listen(loop)
        self.far_end.send("open")
        while (command := await commands.get()) != "stop":
            if command == "close":
                server.close()
                for transport in list(self.transports):
                    transport.abort()
            else:
                server = await self.listen(loop)
            self.far_end.send(command)
        times = os.times()
        self.far_end.send((self.targets, self.served, self.connections, [each.counted for each in protocols],
                           times.user + times.system))

    async def listen(self, loop):
        return await loop.create_server(lambda: Connection(loop, self), self.addresses, self.port, backlog=4096)

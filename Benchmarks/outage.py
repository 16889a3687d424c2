"""Hosts that stop answering in the middle of a job: `script/bench outage`.

    outage.py [--entries N] [--seconds S] [--kind KIND]… [--check] PROGRAM [OTHER_PROGRAM]

1 200 entries of 100 hosts, `--retries 2`. When half of the entries were requested, all hosts fail at once for 20 s, in one of
these ways, each in a run of its own; then all work again:

    refused    no connection is accepted
    unanswered packets that ask for a connection are dropped
    silent     connections are accepted, and nothing is answered
    reset      requests are answered by a reset of the connection
    closed     requests are answered by the end of the connection
    broken     answers break off in the middle of the body
    502, 503   answers of a gateway whose server is away
    portal     all answers lead to one page of another host
    tls        servers speak TLS, and handshakes are cut off after the client's first message
    proxy-refused, proxy-502
               hosts are behind a proxy, which refuses connections, or says that it reaches none
    resolver   name servers fail (SERVFAIL), and connections are refused; half of the names were not asked for before
    nxdomain   all names do not exist, and connections are refused

Hosts are addresses on loopback, or names that the proxy or a name server knows (the last two need network and mount namespaces);
answers come after 20 ms, pictures have 1 KB. Not simulated: hosts that recover one by one.

Asked: no row failed, and the first picture is there at most 20 s after the end of the outage. With --check the exit code is 1 when
that is not so.
"""
import argparse, asyncio, pathlib, socket, ssl, struct, subprocess, sys, tempfile, threading, time

import names, photographs, processes, simulated_web

ADDRESSES = [f"127.0.1.{number}" for number in range(1, 101)]
KINDS = ["refused", "unanswered", "silent", "reset", "closed", "broken", "502", "503", "portal", "tls", "proxy-refused", "proxy-502",
         "resolver", "nxdomain"]
NAMES = {"resolver": 2, "nxdomain": 3}


class Outage:
    """A server on all addresses that fails for a while when half of the entries were requested."""

    def __init__(self, kind, options, picture, certificate):
        self.is_proxy, self.kind = kind.startswith("proxy-"), kind.removeprefix("proxy-")
        self.options, self.picture, self.tls = options, picture, None
        if self.kind == "tls":
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(certificate / "certificate.pem", certificate / "key.pem")
        self.asked, self.is_down, self.ended = 0, False, None
        self.names = names.NameServer({f"h{number}.test": address for number, address in enumerate(ADDRESSES)})
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
        if self.kind in NAMES:
            transport, _ = await self.loop.create_datagram_endpoint(lambda: self.names, simulated_web.RESOLVER)
        await self.listen()
        self.started.set()
        await self.stopping.wait()
        if self.kind in NAMES:
            transport.close()

    async def listen(self):
        self.server = await asyncio.start_server(self.answer, "0.0.0.0", self.port, backlog=1024, ssl=self.tls)
        self.port = self.server.sockets[0].getsockname()[1]

    async def fail(self):
        self.is_down = True
        self.names.failure = NAMES.get(self.kind, 0)
        stops_listening = self.kind in ("refused", "unanswered", "tls", *NAMES)
        if stops_listening:
            self.server.close()
        others = []
        if self.kind == "unanswered":
            others = self.drop_connections()
        elif self.kind == "tls":
            self.server = await asyncio.start_server(self.cut_handshake, "0.0.0.0", self.port, backlog=1024)
        for writer in list(self.connections):
            self.end(writer)
        await asyncio.sleep(self.options.seconds)
        self.is_down, self.ended, self.names.failure = False, time.time(), 0
        for each in others:
            each.close()
        if self.kind == "tls":
            self.server.close()
        if stops_listening:
            await self.listen()
        for writer in self.held:
            writer.close()

    def drop_connections(self):
        """Sockets of which one listens, whose queue the others fill: what asks for another connection is dropped."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("0.0.0.0", self.port))
        listener.listen(0)
        filling = [socket.socket() for _ in range(8)]
        for each in filling:
            each.setblocking(False)
            each.connect_ex(("127.0.0.1", self.port))
        return [listener, *filling]

    async def cut_handshake(self, reader, writer):
        await reader.read(1)
        self.reset(writer)

    def reset(self, writer):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    def end(self, writer):
        """What happens to connections that are open when the outage begins, and to requests during it."""
        if writer.is_closing():
            return
        match self.kind:
            case "refused" | "reset" | "unanswered" | "tls" | "resolver" | "nxdomain":
                self.reset(writer)
            case "closed":
                writer.close()
            case "silent":
                self.held.append(writer)

    async def answer(self, reader, writer):
        self.connections.add(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                if b"/login?" in head:
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 12\r\n\r\n<html>Log in")
                    continue
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
                elif self.kind == "portal":
                    writer.write(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.2.1:%d/login?url=%d\r\nContent-Length: 0\r\n\r\n"
                                 % (self.port, number))
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


def make_certificate(folder):
    """Makes a key and a certificate for all addresses; returns the variables with which it is trusted."""
    names = ",".join(f"IP:{address}" for address in ADDRESSES)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
                    "2", "-subj", "/CN=outage", "-addext", f"subjectAltName={names}", "-keyout", folder / "key.pem",
                    "-out", folder / "certificate.pem"], check=True, stderr=subprocess.DEVNULL)
    return {"CURL_CA_BUNDLE": str(folder / "certificate.pem")}


def measure(program, kind, options, picture):
    """Returns whether it went as it was asked."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        variables = make_certificate(folder) if kind == "tls" else {}
        with Outage(kind, options, picture, folder) as outage:
            scheme = "https" if kind == "tls" else "http"
            hosts = [f"h{number}.test" + ("" if outage.is_proxy else f":{outage.port}")
                     if outage.is_proxy or kind in NAMES else f"{address}:{outage.port}"
                     for number, address in enumerate(ADDRESSES)]
            # The second half of the hosts is asked when name servers have failed.
            order = [number // 2 % 50 + (number >= options.entries // 2) * 50 if kind == "resolver" else number % len(hosts)
                     for number in range(options.entries)]
            (folder / "outage.txt").write_text("".join(
                f"{scheme}://{hosts[host]}/p/{number:06}.jpg\n" for number, host in enumerate(order)))
            proxy = ["--proxy", f"http://127.0.0.1:{outage.port}"] if outage.is_proxy else []
            command = processes.darkroom(program, folder, "outage.txt", "--retries", "2", *proxy)
            result = processes.run(command, folder, limit=240, **variables)
            asked, ended = outage.asked, outage.ended
        states = processes.outcomes(folder, "outage")
        later = [each - ended for each in processes.picture_times(folder) if ended and each > ended]
        goes_on = f"{later[0]:.1f}" if later else "never"
        print(f"| {program[-50:]} | {kind} | {result.wall:.1f} | {result.cpu:.1f} | {result.status} "
              f"| {processes.words(states)} | {goes_on} | {asked} |", flush=True)
        return states["filtered"] == options.entries and bool(later) and later[0] <= 20


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=1200)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("programs", nargs="+")
    options = parser.parse_intermixed_args()
    kinds = options.kind or KINDS
    if any(kind in NAMES for kind in kinds):
        simulated_web.enter_namespaces()
        with tempfile.TemporaryDirectory() as folder:
            simulated_web.prepare_network(pathlib.Path(folder))
    print("| program | kind | wall, s | CPU, s | exit code | rows | goes on after, s | requests |\n|" + " --- |" * 8)
    picture = photographs.thumbnail()
    went_well = [measure(program, kind, options, picture) for kind in kinds for program in options.programs]
    if options.check and not all(went_well):
        sys.exit("outage: rows failed, or it took longer than 20 s until it went on")


if __name__ == "__main__":
    main()

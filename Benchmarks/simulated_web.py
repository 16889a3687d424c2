"""The web of `script/bench web`: 5 000 pictures of 500 hosts, far away, some of which do not exist or never answer.

Each host has a name and a loopback address of its own. Pictures are spread over hosts by Zipf's law: the host of rank r has
1/r of what the first has. Of 20 ranks one does not exist: its name has no address. Of 50 one is silent: half of these accept
connections and never answer, half drop the packets that ask for a connection. They are taken evenly over the ranks, so that
the first hosts answer.

A connection costs 100 ms before its first answer, each answer 200 ms. The first is a delay of the answer, too: to connect
takes no time, so that a limit of the time to connect is met by hosts that drop packets alone. Not simulated: the time that a
name server needs, loss, limited bandwidth, TLS, servers that slow down or refuse.

A network and a mount namespace make it a web of its own: its name server is at 127.0.0.53, as /etc/resolv.conf says there,
and servers have port 80. Nothing outside is changed.
"""
import dataclasses, fcntl, os, pathlib, random, shutil, socket, struct, subprocess, sys

import names, photographs, servers

HANDSHAKE, DISTANCE = 0.1, 0.2
RESOLVER = ("127.0.0.53", 53)


@dataclasses.dataclass
class Host:
    name: str
    address: str
    kind: str
    pictures: int


def make_hosts(count, pictures):
    """Hosts by rank."""
    whole = sum(1 / rank for rank in range(1, count + 1))
    shares = [pictures / whole / rank for rank in range(1, count + 1)]
    counts = [int(share) for share in shares]
    for rank in sorted(range(count), key=lambda rank: counts[rank] - shares[rank])[:pictures - sum(counts)]:
        counts[rank] += 1

    def kind(rank):
        if rank % 20 == 10:
            return "missing"
        return {25: "unanswering", 75: "unreachable"}.get(rank % 100, "answering")

    return [Host(f"h{rank:03}.web.test", f"127.1.{rank // 250}.{rank % 250 + 1}", kind(rank), counts[rank - 1])
            for rank in range(1, count + 1)]


def make_urls(hosts):
    """One for each picture, in random order, as lists of crawlers are; the same each time."""
    order = [host for host in hosts for _ in range(host.pictures)]
    random.Random(1).shuffle(order)
    return [f"http://{host.name}/p/{number:06}.jpg" for number, host in enumerate(order)]


def enter_namespaces():
    """Starts the program again in namespaces of its own, once; ends it with a message when that is not permitted."""
    if os.environ.get("BENCHMARK_NAMESPACES"):
        return
    unshare = [shutil.which("unshare") or "unshare", "--net", "--mount", *([] if os.getuid() == 0 else ["--map-root-user"])]
    try:
        subprocess.run([*unshare, "true"], check=True, stderr=subprocess.PIPE)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = getattr(error, "stderr", None) or str(error).encode()
        sys.exit(f"needs a network and a mount namespace, which are not permitted here: {reason.decode().strip()}")
    os.execve(unshare[0], [*unshare, sys.executable, *sys.argv], {**os.environ, "BENCHMARK_NAMESPACES": "1"})


def prepare_network(folder):
    """Brings the loopback interface up, and has names resolved by the benchmark's server alone.

    The interface has another address, too: without one aria2 believes that there is no network, and asks for no name.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        set_flags, set_address, up = 0x8914, 0x8916, 1
        fcntl.ioctl(control, set_flags, struct.pack("16sH14x", b"lo", up))
        fcntl.ioctl(control, set_address, struct.pack("16sHxx4s8x", b"lo:1", socket.AF_INET, socket.inet_aton("192.0.2.1")))
    files = {"/etc/resolv.conf": f"nameserver {RESOLVER[0]}\nsearch .\n", "/etc/nsswitch.conf": "hosts: files dns\n"}
    for path, text in files.items():
        own = folder / pathlib.Path(path).name
        own.write_text(text)
        subprocess.run(["mount", "--bind", own, os.path.realpath(path)], check=True)


class Web:
    """The web while the context lasts; then what `Servers` has. Without delays, for the ceiling, all hosts answer at once."""

    def __init__(self, hosts, delays=True):
        self.delays, self.silent = delays, []
        self.unanswering, self.unreachable = ([host.address for host in hosts if host.kind == kind]
                                              for kind in ("unanswering", "unreachable"))
        self.pictures = photographs.photographs()
        addresses = {host.name: host.address for host in hosts if host.kind != "missing"}
        self.servers = servers.Servers(
            self.respond, [host.address for host in hosts if host.kind == "answering"], 80, HANDSHAKE if delays else 0,
            {RESOLVER: lambda: names.NameServer(addresses)})

    def respond(self, asked):
        if not asked.target.startswith("/p/"):
            return servers.Answer(status=404)  # a probe of the network
        number = int(asked.target[3:9])
        body = photographs.numbered(self.pictures[number % len(self.pictures)], number)
        return servers.Answer(body=body, delay=DISTANCE if self.delays else 0)

    def __enter__(self):
        self.silent = [silent_socket(address, backlog=1000) for address in self.unanswering]
        for address in self.unreachable:
            # Once its queue is full, a socket that does not accept drops what asks for another connection.
            self.silent += [silent_socket(address, backlog=0), socket.create_connection((address, 80))]
        return self.servers.__enter__()

    def __exit__(self, *error):
        self.servers.__exit__(*error)
        for each in self.silent:
            each.close()


def silent_socket(address, backlog):
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((address, 80))
    listening.listen(backlog)
    return listening

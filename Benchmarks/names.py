"""A name server for the benchmarks: answers type A from a table, counts questions by name and type."""
import asyncio, collections, socket, struct

A, AAAA = 1, 28


class NameServer(asyncio.DatagramProtocol):
    """Answers at once. Names outside of the table do not exist; other types than A have no data. While `failure` is a response
    code, such as 2 (SERVFAIL) or 3 (NXDOMAIN), that is the answer to every question."""

    def __init__(self, addresses, lifetime=300):
        self.addresses, self.lifetime, self.counted, self.failure = addresses, lifetime, collections.Counter(), 0

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, query, client):
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode())
            at += 1 + query[at]
        kind, = struct.unpack_from(">H", query, at + 1)
        name = ".".join(labels).lower()
        self.counted[name, kind] += 1
        address = None if self.failure else self.addresses.get(name)
        found = kind == A and address is not None
        flags = 0x8580 | (self.failure or (0 if address else 3))
        head = query[:2] + struct.pack(">HHHHH", flags, 1, int(found), int(not found), 0)
        self.transport.sendto(head + query[12:at + 5] + (self.record(address) if found else self.authority()), client)

    def record(self, address):
        return b"\xc0\x0c" + struct.pack(">HHIH", A, 1, self.lifetime, 4) + socket.inet_aton(address)

    def authority(self):
        """The start of authority of the root: how long it is known that there is nothing."""
        data = b"\0\0" + struct.pack(">IIIII", 1, 3600, 600, 86400, self.lifetime)
        return b"\0" + struct.pack(">HHIH", 6, 1, self.lifetime, len(data)) + data

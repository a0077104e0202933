"""A server of PMI-1, the protocol by which MPICH and its kin ask a launcher who the other processes are.

Run as a program it serves one world of processes and ends with them:

    python _pmi.py SIZE ADDRESS      a secret on the first line of its input; it prints its port

A client first sends a line "SECRET RANK", and then what MPI sends. The program ends when all clients have gone, or none
has come before its input ends. It imports nothing but the standard library, and starts in some ten milliseconds.
Source: the PMI-1 wire protocol of MPICH's simple PMI client (src/pmi).
"""

from __future__ import annotations

import hmac
import secrets
import selectors
import socket
import sys
from typing import Dict, List, Optional

NAME_MAX, KEY_MAX, VALUE_MAX = 256, 64, 1024
_LINE_MAX = 8192


def fields_of(line: str) -> Dict[str, str]:
    """Of a line "cmd=put key=a value=b c": a value ends where the line does, others at a blank."""
    fields: Dict[str, str] = {}
    head, mark, value = line.partition(" value=")
    for word in head.split():
        name, is_given, text = word.partition("=")
        if is_given:
            fields[name] = text
    if mark:
        fields["value"] = value
    return fields


class Client:
    """One process of the world, once it has said the secret."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.rank: Optional[int] = None
        self.is_waiting = False  # in a barrier
        self.has_finalized = False
        self.rest = b""

    def send(self, text: str) -> None:
        self.connection.sendall(text.encode() + b"\n")


class World:
    """What the server keeps: the key-value space and who is in the barrier."""

    def __init__(self, size: int, secret: str) -> None:
        self.size, self.secret = size, secret
        self.clients: Dict[int, Client] = {}
        self.values: Dict[str, str] = {}
        self.has_lost_one = False  # a process has gone before it finalized
        self.name = f"gradcoll_{secrets.token_hex(8)}"  # MPICH names shared memory after it: no two worlds have one name

    def join(self, client: Client, line: str) -> bool:
        """Whether the first line was right."""
        secret, _, rank = line.partition(" ")
        if not hmac.compare_digest(secret.encode(), self.secret.encode()) or not rank.isdecimal():
            return False
        if int(rank) >= self.size or int(rank) in self.clients:
            return False
        client.rank = int(rank)
        self.clients[client.rank] = client
        client.send("ok")
        return True

    def answer(self, client: Client, line: str) -> None:
        fields = fields_of(line)
        command = fields.get("cmd", "")
        if command == "barrier_in":
            if self.has_lost_one:
                raise ConnectionAbortedError  # it would wait for ever
            client.is_waiting = True
            self._end_barrier()
        elif command == "put":
            self.values[fields.get("key", "")] = fields.get("value", "")
            client.send("cmd=put_result rc=0 msg=success")
        elif command == "get":
            found = self.values.get(fields.get("key", ""))
            client.send("cmd=get_result rc=-1 msg=key_not_found value=unknown" if found is None else f"cmd=get_result rc=0 msg=success value={found}")
        elif command == "finalize":
            client.has_finalized = True
            client.send("cmd=finalize_ack rc=0")
        else:
            client.send(self._fact(command))

    def _fact(self, command: str) -> str:
        facts = {
            "init": "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
            "get_maxes": f"cmd=maxes rc=0 kvsname_max={NAME_MAX} keylen_max={KEY_MAX} vallen_max={VALUE_MAX}",
            "get_appnum": "cmd=appnum rc=0 appnum=0",
            "get_my_kvsname": f"cmd=my_kvsname rc=0 kvsname={self.name}",
            "get_universe_size": f"cmd=universe_size rc=0 size={self.size}",
        }
        return facts.get(command, f"cmd={command}_result rc=-1 msg=not_served")

    def _end_barrier(self) -> None:
        if len(self.clients) == self.size and all(client.is_waiting for client in self.clients.values()):
            for client in self.clients.values():
                client.is_waiting = False
                client.send("cmd=barrier_out rc=0")


class Server:
    """Connections, and the world that they are of."""

    def __init__(self, world: World, listener: socket.socket) -> None:
        self._world = world
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)
        self._listener = listener
        self._clients: List[Client] = []
        self._parent_is_there = True

    def watch(self, parent: object) -> None:
        self._selector.register(parent, selectors.EVENT_READ)  # type: ignore[arg-type]
        self._parent = parent

    def run(self) -> None:
        has_met = False
        while self._clients or (self._parent_is_there and not has_met):
            for key, _ in self._selector.select():
                if key.fileobj is self._listener:
                    self._accept()
                elif isinstance(key.data, Client):
                    self._read(key.data)
                elif not self._parent.read(1):  # type: ignore[attr-defined]
                    self._selector.unregister(self._parent)  # type: ignore[arg-type]
                    self._parent_is_there = False
            has_met = has_met or len(self._world.clients) == self._world.size

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        client = Client(connection)
        self._clients.append(client)
        self._selector.register(connection, selectors.EVENT_READ, client)

    def _read(self, client: Client) -> None:
        try:
            received = client.connection.recv(4096)
        except OSError:
            received = b""
        client.rest += received
        if not received or len(client.rest) > _LINE_MAX:
            self._drop(client)
            return
        *lines, client.rest = client.rest.split(b"\n")
        for line in lines:
            try:
                self._take(client, line.decode(errors="replace"))
            except OSError:
                self._drop(client)
                return

    def _take(self, client: Client, line: str) -> None:
        if client.rank is not None:
            self._world.answer(client, line)
        elif not self._world.join(client, line):
            raise ConnectionRefusedError

    def _drop(self, client: Client) -> None:
        """A process that goes before it has finalized takes the others with it, now or when they wait for it."""
        if client not in self._clients:
            return
        self._clients.remove(client)
        self._selector.unregister(client.connection)
        client.connection.close()
        if client.rank is not None and not client.has_finalized:
            self._world.has_lost_one = True
            for other in [one for one in self._clients if one.rank is not None and one.is_waiting]:
                self._drop(other)


def main() -> None:
    size, address = int(sys.argv[1]), sys.argv[2]
    secret = sys.stdin.buffer.raw.readline().decode().strip()
    listener = socket.create_server((address, 0), backlog=min(size, 4096))
    print(listener.getsockname()[1], flush=True)
    server = Server(World(size, secret), listener)
    server.watch(sys.stdin.buffer.raw)
    server.run()


if __name__ == "__main__":
    main()

"""`lab check`: the rate that every link really has, each direction, measured with TCP between its two ends."""
import json
import shutil
import subprocess
import sys
import time

from .description import LabError, rate_text
from .launch import start_on

PORT = 5201
TOLERANCE = 0.08

# Receives one connection and says how many bytes a second came; or sends zeros for a while.
_RECEIVER = """
import socket, sys, time
server = socket.create_server((sys.argv[1], int(sys.argv[2])))
print("ready", flush=True)
connection, _ = server.accept()
total, begin = 0, time.monotonic()
while True:
    got = len(connection.recv(1 << 20))
    if not got:
        break
    total += got
print(total / (time.monotonic() - begin))
"""
_SENDER = """
import socket, sys, time
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
end = time.monotonic() + float(sys.argv[3])
while time.monotonic() < end:
    connection.send(bytes(1 << 17))
"""


def _by_sockets(lab, sender, receiver, seconds):
    arguments = [receiver.address, str(PORT)]
    listening = start_on(lab, receiver.name, [sys.executable, "-c", _RECEIVER, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        listening.stdout.readline()
        start_on(lab, sender.name, [sys.executable, "-c", _SENDER, *arguments, str(seconds)]).wait(seconds + 10)
        return 8 * float(listening.communicate(timeout=30)[0])
    finally:
        listening.kill()
        listening.wait()


def _by_iperf3(lab, sender, receiver, seconds):
    server = start_on(lab, receiver.name, ["iperf3", "-s", "-1", "-B", receiver.address, "-p", str(PORT)],
                      stdout=subprocess.DEVNULL)
    try:
        client = ["iperf3", "-c", receiver.address, "-p", str(PORT), "-t", str(seconds), "-O", "0.2", "-J"]
        for _ in range(50):
            done = start_on(lab, sender.name, client, stdout=subprocess.PIPE, text=True)
            answer = json.loads(done.communicate(timeout=seconds + 20)[0])
            if "unable to connect" not in answer.get("error", ""):
                break
            time.sleep(0.05)
        if "error" in answer:
            raise LabError(f"iperf3 from {sender.name} to {receiver.name}: {answer['error']}")
        return answer["end"]["sum_received"]["bits_per_second"]
    finally:
        server.kill()
        server.wait()


def check(lab, seconds, write):
    """Measures link by link, direction by direction; returns whether all are within TOLERANCE."""
    measure, how = (_by_iperf3, "iperf3") if shutil.which("iperf3") else (_by_sockets, "own sockets")
    write(f"{'link':24} {'wanted':>9} {'up':>9} {'down':>9}   ({how}, payload of one TCP connection, {seconds} s each)\n")
    nodes = {node.name: node for node in lab.description.nodes}
    good = True
    for node in lab.description.linked:
        above = nodes[node.parent]
        up, down = measure(lab, node, above, seconds), measure(lab, above, node, seconds)
        right = all(abs(rate / node.rate_bit - 1) <= TOLERANCE for rate in (up, down))
        good = good and right
        write(f"{node.name + ' - ' + above.name:24} {rate_text(node.rate_bit):>9} {rate_text(up):>9} {rate_text(down):>9}"
              f"{'' if right else '   OFF'}\n")
    return good

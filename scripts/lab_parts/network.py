"""Links, switches, addresses and rates: the commands of iproute2 that turn a description into a network."""
import subprocess

from .description import LabError

MTU = 9000
MANAGEMENT_DEVICE = "mgmt0"
HEAD_ADDRESS = "10.98.0.254"
DATA_SUBNET = "10.99.0.0/24"
MANAGEMENT_SUBNET = "10.98.0.0/24"
# A full queue drops; as many bytes as all connections of a lab may have in flight (see SYSCTLS) fit into it.
QUEUE_BYTES = 64 << 20
# Nothing is lost then, so what is sent again was late only: because all hosts share a few cores.
PATIENCE = "2s"
SYSCTLS = {
    "net/ipv6/conf/all/disable_ipv6": "1",
    "net/ipv6/conf/default/disable_ipv6": "1",
    "net/ipv4/tcp_congestion_control": "reno",
    "net/ipv4/tcp_slow_start_after_idle": "0",
    "net/ipv4/tcp_no_metrics_save": "1",
    "net/ipv4/tcp_early_retrans": "0",
    "net/ipv4/tcp_rmem": "4096 131072 2097152",
    "net/ipv4/tcp_wmem": "4096 131072 2097152",
}


def set_sysctls():
    """Of the network namespace that the caller is in. What a kernel does not have is left out."""
    for name, value in SYSCTLS.items():
        try:
            with open(f"/proc/sys/{name}", "w", encoding="ascii") as file:
                file.write(value)
        except OSError:
            pass


def _packet_bytes(rate_bit):
    """The largest packet that a link of this rate carries in one piece: half a millisecond, at least two frames."""
    return max(2 * MTU, min(65536, rate_bit // 8 // 2000))


def _burst_bytes(rate_bit):
    return 2 * _packet_bytes(rate_bit) + MTU


def _batch(tool, pid, lines):
    """Runs lines of ip or tc in the network of process `pid`; None: in the caller's."""
    inside = ["nsenter", f"--net=/proc/{pid}/ns/net"] if pid else []
    done = subprocess.run([*inside, tool, "-batch", "-"], input="\n".join(lines) + "\n", text=True, capture_output=True)
    if done.returncode != 0:
        raise LabError(f"{tool} failed: {done.stderr.strip()}")


def _cables(description, pids):
    for node in description.linked:
        yield (f"link add {node.uplink_device} mtu {MTU} netns {pids[node.name]} type veth "
               f"peer name {node.port_device} mtu {MTU} netns {pids[node.parent]}")
    yield f"link add {MANAGEMENT_DEVICE} type bridge"
    yield f"addr add {HEAD_ADDRESS}/24 dev {MANAGEMENT_DEVICE}"
    yield f"link set {MANAGEMENT_DEVICE} up"
    yield "link set lo up"
    for host in description.hosts:
        yield (f"link add {MANAGEMENT_DEVICE} netns {pids[host.name]} type veth peer name {host.port_device}")
        yield f"link set {host.port_device} master {MANAGEMENT_DEVICE} up"


def _host_lines(host):
    return ["link set lo up",
            f"addr add {host.address}/24 dev eth0",
            f"link set eth0 up gso_max_size {_packet_bytes(host.rate_bit)}",
            f"route replace {DATA_SUBNET} dev eth0 src {host.address} rto_min {PATIENCE}",
            f"addr add {host.management_address}/24 dev {MANAGEMENT_DEVICE}",
            f"link set {MANAGEMENT_DEVICE} up"]


def _switch_lines(description, switch):
    ports = [child.port_device for child in description.children(switch.name)]
    if switch.parent:
        ports.append(switch.uplink_device)
    lines = ["link set lo up", f"link add br0 mtu {MTU} type bridge mcast_snooping 0 forward_delay 0",
             f"addr add {switch.address}/24 dev br0"]
    return lines + [f"link set {port} master br0 up" for port in ports] + ["link set br0 up"]


def _shape(device, rate_bit, verb="add"):
    return f"qdisc {verb} dev {device} root tbf rate {rate_bit}bit burst {_burst_bytes(rate_bit)}b limit {QUEUE_BYTES}b"


def build(description, pids):
    """Connects the nodes, whose network namespaces are those of `pids` (name -> process). Errors: LabError."""
    _batch("ip", None, _cables(description, pids))
    for node in description.nodes:
        _batch("ip", pids[node.name], _host_lines(node) if node.is_host else _switch_lines(description, node))
        shaped = [_shape(child.port_device, child.rate_bit) for child in description.children(node.name)]
        if node.parent:
            shaped.append(_shape(node.uplink_device, node.rate_bit))
        _batch("tc", pids[node.name], shaped)


def set_rate(node, pids, rate_bit):
    """Both directions of the link above `node`, from now on. Errors: LabError."""
    _batch("tc", pids[node.name], [_shape(node.uplink_device, rate_bit, "replace")])
    _batch("tc", pids[node.parent], [_shape(node.port_device, rate_bit, "replace")])


def names_file(description):
    """What /etc/hosts says inside: the same on all hosts."""
    lines = ["127.0.0.1 localhost", f"{HEAD_ADDRESS} head"]
    lines += [f"{node.address} {node.name}" for node in description.nodes]
    lines += [f"{host.management_address} {host.name}-mgmt" for host in description.hosts]
    return "\n".join(lines) + "\n"


def counters(pid):
    """{device: {rx_bytes, rx_packets, tx_bytes, tx_packets, dropped}} of the kernel, in the network of process `pid`."""
    devices = {}
    with open(f"/proc/{pid}/net/dev", encoding="ascii") as file:
        for line in file.readlines()[2:]:
            device, figures = line.split(":")
            fields = [int(field) for field in figures.split()]
            devices[device.strip()] = {"rx_bytes": fields[0], "rx_packets": fields[1], "tx_bytes": fields[8],
                                       "tx_packets": fields[9], "dropped": fields[3] + fields[11]}
    return devices

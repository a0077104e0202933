"""What `lab tree`, `lab links` and `lab status` print."""
import json

from . import network
from .description import rate_text


def tree_csv(description):
    """The table that GC_TOPOLOGY=file: reads: host or switch, the switch above it, the link's rate."""
    lines = ["host,switch,gbytes_per_s"]
    for node in description.linked:
        name = node.name if node.is_host else f"switch:{node.name}"
        lines.append(f"{name},{node.parent},{node.rate_bit / 8e9:.9g}")
    return "\n".join(lines) + "\n"


def tree_json(description, where):
    """The tree that GC_TOPOLOGY=json: reads, with the ranks where `lab run` puts them. `where`: launch.ranks_by_host()."""
    ranks, first = {}, 0
    for host, count in where:
        ranks[host.name] = range(first, first + count)
        first += count
    return json.dumps(_vertex(description, description.top, ranks), indent=1) + "\n"


def _vertex(description, node, ranks):
    vertex = {"kind": "host" if node.is_host else "switch", "name": node.name}
    if node.rate_bit:
        vertex["bandwidth_gbytes_per_s"] = node.rate_bit / 8e9
    if node.is_host:
        vertex["children"] = [{"rank": rank} for rank in ranks.get(node.name, ())]
    else:
        below = [_vertex(description, child, ranks) for child in description.children(node.name)]
        vertex["children"] = [child for child in below if child["children"]]
    return vertex


def link_bytes(lab):
    """[(node, bytes upwards, bytes downwards, packets lost)] of every link, from the kernel's counters at its lower end."""
    pids = lab.nodes()
    rows = []
    for node in lab.description.linked:
        counted = network.counters(pids[node.name])[node.uplink_device]
        rows.append((node, counted["tx_bytes"], counted["rx_bytes"], counted["dropped"]))
    return rows


def links_csv(lab):
    lines = ["node,switch,rate_bit,up_bytes,down_bytes,dropped"]
    lines += [f"{node.name},{node.parent},{node.rate_bit},{up},{down},{dropped}" for node, up, down, dropped in link_bytes(lab)]
    return "\n".join(lines) + "\n"


def status(lab):
    description = lab.description
    lines = [f"lab {lab.name} ({lab.source}), kept by process {lab.keeper}: "
             f"{len(description.hosts)} hosts, {len(description.switches)} switches{', SLURM' if lab.with_slurm else ''}"]
    _draw(description, description.top, "", lines)
    return "\n".join(lines) + "\n"


def _draw(description, node, indent, lines):
    link = f"  {rate_text(node.rate_bit)}" if node.rate_bit else ""
    address = f"  {node.address}" if node.is_host else ""
    lines.append(f"{indent}{'host' if node.is_host else 'switch'} {node.name}{link}{address}")
    for child in description.children(node.name):
        _draw(description, child, indent + "  ", lines)

#include "fuzz/runner.hpp"

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "fabric/formats.hpp"
#include "fabric/slurm/slurm.hpp"
#include "fuzz/promises.hpp"
#include "fuzz/topology_inputs.hpp"
#include "topology/dealt_host.hpp"
#include "topology/sources/host/gpu_places.hpp"
#include "topology/sources/host/host_subtree.hpp"
#include "topology/sources/host/machine.hpp"
#include "topology/sources/host/nccl.hpp"
#include "topology/sources/job/reports.hpp"
#include "topology/text.hpp"

namespace gradcoll::fuzz {
namespace {

bool is_a_tree(const Result<Tree>& tree, std::string_view text) {
    if (!accepted(tree.status(), text)) return false;
    must_be_a_tree(*tree, text);
    return true;
}

bool is_a_host(const Result<TreeSpec>& host, std::string_view text) {
    if (!accepted(host.status(), text)) return false;
    must(is_a_tree(Tree::make(*host), text), "a host becomes a tree", text);
    return true;
}

// ---- trees as they are written ------------------------------------------------------------------

/// Returns whether repetition ("16x 16x") multiplies to many vertices, which take long.
bool repeats_often(std::string_view text) {
    constexpr double many = 1 << 12;
    double product = 1, number = 0;
    for (const char c : text) {
        const bool digit = c >= '0' && c <= '9';
        if (c == 'x' && number > 1) product = std::min(product * number, 1e9);
        number = digit ? std::min(number * 10 + (c - '0'), 1e9) : 0;
    }
    return product > many;
}

bool expression(std::string_view text) {
    if (names_many_ranks(text) || repeats_often(text)) return false;
    return is_a_tree(tree_from_expression(text, -1), text);
}

bool json(std::string_view text) {
    const Result<Tree> tree = tree_from_json(text, -1);
    if (!is_a_tree(tree, text)) return false;
    const Result<Tree> again = tree_from_json(json_of(*tree), tree->rank_count());
    must(again.ok() && expression_of(*again) == expression_of(*tree), "JSON reads back", text);
    return true;
}

bool tree_bytes(std::string_view text) {
    const Result<Tree> tree = Tree::deserialize(text);
    if (!is_a_tree(tree, text)) return false;
    must(tree->serialize() == text, "there is one way to write a tree as bytes", text);
    return true;
}

// ---- SLURM --------------------------------------------------------------------------------------

bool host_list(std::string_view text) {
    if (names_many_ranks(text)) return false;
    const Result<std::vector<std::string>> names = names_of_host_list(text, 100'000);
    if (!accepted(names.status(), text)) return false;
    must(!names->empty() && names->size() <= 100'000, "a list has names", text);
    const Result<std::vector<std::string>> again =
        names_of_host_list(host_list_of(*names), 100'000);
    must(again.ok() && *again == *names, "a list reads back", text);
    return true;
}

/// Reads lines of a host's name, its address and its pattern with blanks between them.
bool addresses(std::string_view text) {
    if (names_many_ranks(text)) return false;
    std::vector<SlurmAddress> hosts;
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        SlurmAddress host;
        words >> host.host_name >> host.address >> host.pattern;
        if (!host.host_name.empty()) hosts.push_back(std::move(host));
    }
    const Result<Fabric> fabric = fabric_from_slurm_addresses(hosts);
    return accepted(fabric.status(), text) && becomes_a_tree(*fabric, text);
}

// ---- fabrics ------------------------------------------------------------------------------------

enum class HostLists : bool { no, yes };

bool fabric(std::string_view name, HostLists lists, std::string_view text) {
    if (lists == HostLists::yes && names_many_ranks(text)) return false;
    static_cast<void>(fabric_format_of(text));
    const auto& all = fabric_formats();
    const auto format = std::find_if(all.begin(), all.end(),
                                     [&](const FabricFormat& row) { return row.name == name; });
    const Result<Fabric> read = format->read(text);
    return accepted(read.status(), text) && becomes_a_tree(*read, text);
}

// ---- hosts --------------------------------------------------------------------------------------

constexpr int some_ranks[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

bool nccl(std::string_view text) {
    std::vector<std::string> notes;
    const bool is_host = is_a_host(host_from_nccl(text, some_ranks, notes), text);
    for (const std::string& note : notes) must_be_a_message(note, text);
    return is_host;
}

/// Checks trees in which half of the ranks use one of the GPUs that the machine shows, the others
/// none.
bool ranks_fit_gpus(const Machine& machine, std::string_view text) {
    const std::vector<RankGpu> gpus = machine.gpus();
    if (gpus.empty()) return true;
    std::vector<HostPath> paths(std::size(some_ranks), machine.path_of_all());
    std::vector<RankGpu> used(paths.size());
    for (std::size_t i = 0; i < paths.size(); i += 2) used[i] = gpus[i / 2 % gpus.size()];
    std::vector<std::string> notes;
    place_on_gpus(paths, used, notes);
    for (const std::string& note : notes) must_be_a_message(note, text);
    return is_a_host(merge_host(machine.host_name(), paths, some_ranks), text);
}

bool hwloc(std::string_view text) {
    const Result<Machine> machine = Machine::xml_text(text, "the text");
    if (!accepted(machine.status(), text)) return false;
    const std::vector<HostPath> cores = machine->paths_of_cores();
    must(!cores.empty(), "a machine has cores or PUs", text);
    static_cast<void>(machine->path_of_all());
    return is_a_host(dealt_host(machine->host_name(), cores, some_ranks), text) &&
           ranks_fit_gpus(*machine, text);
}

/// Reads a rank's report about itself: bytes that peers get.
bool report(std::string_view text) {
    std::vector<std::string> notes;
    const std::vector<std::string> reports{std::string(text), std::string(text)};
    const auto hosts = hosts_of_reports(reports, notes);
    for (const std::string& note : notes) must_be_a_message(note, text);
    if (!accepted(hosts.status(), text)) return false;
    std::vector<HostPath> paths;
    std::vector<int> ranks;
    for (const JobHost& host : *hosts)
        for (const JobHost::Rank& rank : host.ranks) {
            paths.push_back(rank.path);
            ranks.push_back(rank.rank);
        }
    return is_a_host(merge_host("host", paths, ranks), text);
}

// ---- seeds --------------------------------------------------------------------------------------

std::vector<std::string_view> kept_bytes_of(std::initializer_list<std::string_view> expressions) {
    static std::vector<std::string> kept;
    for (const std::string_view text : expressions)
        kept.push_back(tree_from_expression(text, -1)->serialize());
    return {kept.begin(), kept.end()};
}

std::vector<std::string_view> kept_reports() {
    static std::vector<std::string> kept;
    const HostPath::Object package{VertexKind::package, 0, "Package#0"};
    const HostPath::Object gpu{VertexKind::gpu, 0x3b00, "0000:3b:00.0", {31.5, 0}};
    RankReport report;
    report.path = {"n1", {package, {VertexKind::core, 3, "Core#3"}}};
    kept.push_back(report_bytes(report));
    report.gpu = {gpu.name, {package, gpu}, {{"0000:d8:00.0", false, 50}, {"s1", true, 25}}};
    report.facts.unbound_over = "2 packages";
    kept.push_back(report_bytes(report));
    return {kept.begin(), kept.end()};
}

constexpr std::string_view expression_seeds[] = {
    "((0 1) (2 3 4))",
    "(0-3)",
    "switch:top(host:n1(0-3) host:n2(4 5) 6)",
    "switch(2x switch(3x host(2x package(4x*)))@12.5)",
    "((0,1)@12.5/1.5,(2,(3,4))@3)",
    "switch(host(8x*)@12.5/1.5 switch(3x host(4x*)@3) 2x host(6x*)@12.5)",
    "(((((0)1)2)3)4)"};
constexpr std::string_view host_list_seeds[] = {
    "tux[0-15,20]", "r[1-2]n[01-08]", "login,a[008-011].x,b", "[1-3]", "a,b,c", "n[1-2][3-4][5-6]"};
constexpr std::string_view address_seeds[] = {
    "n1 root.s[4-7].n1 switch.switch.node\nn2 root.s[4-5].n2 switch.switch.node\nn3 root.s8.n3 "
    "switch.switch.node\n",
    "a b1.a block.node\nb b2.b block.node\nc c node\nd\n",
    "n1 switch.2.1.switch.1.1.n1 switch.switch.node\nn2 switch.2.1.switch.1.2.n2 "
    "switch.switch.node\n",
    "x top.mid.leaf1.x switch.switch.switch.node\ny top.leaf2.y switch.switch.node\nz top..leaf3.z "
    "switch.switch.switch.node\n"};
constexpr std::string_view csv_seeds[] = {
    "host,switch\nn1,leaf1\nn2,leaf1\nn[3-5],leaf2\nswitch:leaf1,core\nswitch:leaf2,core\n",
    "n1,s1,12.5,1.5\nn2,s1,12.5\ns1,top,50\ns2,top\nn[01-03],s2\n# end\n", "a,b\nb,c\nc,d\n"};
constexpr std::string_view mpich_seeds[] = {
    "# rank: group switch port\n0: 0 0 0\n1: 0 0 1\n2: 0 1 0\n3: 1 0 0\n4: 1 0 1\n",
    "heading\n0: 0 1 2\n1: 0 1 3\n2: 4 5 6\n3: 4 5 7\n"};

std::vector<Target> all_targets() {
    static const std::vector<std::string_view> bytes =
        kept_bytes_of({"0", "((0 1) (2 3 4))", "switch:s(host:a(0-1)@3/1 host:b(2 3))"});
    static const std::vector<std::string_view> reports = kept_reports();
    return {
        {"report of a rank", report, reports},
        {"expression", expression, expression_seeds},
        {"JSON", json,
         recorded(
             {"two_and_three.json", "lopsided_cluster.json", "odd_names.json", "flat_list.json"})},
        {"bytes of a tree", tree_bytes, bytes},
        {"host list", host_list, host_list_seeds},
        {"SLURM addresses", addresses, address_seeds},
        {"topology.conf",
         [](std::string_view text) { return fabric("topology.conf", HostLists::yes, text); },
         recorded({"slurm/two-levels.conf", "slurm/unbalanced.conf", "slurm/several-parents.conf",
                   "slurm/no-common-root.conf", "slurm/lone-trunks.conf", "slurm/blocks.conf",
                   "slurm/topograph-tree.conf", "slurm/all-nodes.conf", "slurm/scontrol.conf"})},
        {"topology.yaml",
         [](std::string_view text) { return fabric("topology.yaml", HostLists::yes, text); },
         recorded({"slurm/tree.yaml", "slurm/topograph-partitions.yaml", "slurm/dynamic-nodes.yaml",
                   "slurm/flat.yaml", "slurm/torus.yaml"})},
        {"ibnetdiscover",
         [](std::string_view text) { return fabric("ibnetdiscover", HostLists::no, text); },
         recorded({"fabric/ibnetdiscover-ndr-40-switches.out"})},
        {"ib-subnet",
         [](std::string_view text) { return fabric("ib-subnet", HostLists::no, text); },
         recorded({"plafrim/ib-raw/ib-subnet-fe80:0000:0000:0000.txt"})},
        {"CSV", [](std::string_view text) { return fabric("CSV", HostLists::yes, text); },
         csv_seeds},
        {"MPICH coordinates",
         [](std::string_view text) { return fabric("MPICH coordinates", HostLists::no, text); },
         mpich_seeds},
        {"NCCL XML", nccl,
         recorded({"nccl/g5.48xl-topo.xml", "nccl/ndv4-topo.xml", "nccl/ndv5-topo.xml",
                   "nccl/p4d-24xl-topo.xml", "nccl/topo_3p_pcie.xml", "nccl/topo_8p_940.xml",
                   "nccl/topo_8p_rome_n4.xml", "nccl/topo_16p1h.xml"})},
        {"hwloc XML", hwloc,
         recorded({"hwloc/16em64t-4s2c2t-offlines.xml", "hwloc/32amd64-4s2n4c-cgroup2.xml",
                   "hwloc/power8gpudistances.xml", "plafrim/hwloc/bonobo013.xml",
                   "hwloc1/power8gpudistances.xml", "hwloc1/node-without-memory.xml",
                   "hwloc3/power8gpudistances.xml", "parts/cut-in-three.xml"})},
    };
}

}  // namespace

std::span<const Target> topology_targets() {
    static const std::vector<Target> targets = all_targets();
    return targets;
}

}  // namespace gradcoll::fuzz

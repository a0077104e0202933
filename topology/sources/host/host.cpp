// topology/sources/host/host.cpp - from host paths to the subtree of a host.
#include "topology/sources/host/host.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "base/log.hpp"
#include "topology/pci_address.hpp"
#include "topology/sources/host/gpu_places.hpp"
#include "topology/sources/host/machine.hpp"
#include "topology/sources/host/nvml.hpp"

namespace gradcoll {

namespace {

/// A vertex under construction; children are found by what they are, and kept in the order in which
/// they came.
struct Branch {
    TreeSpec spec;
    std::vector<Branch> children;
    std::map<std::pair<VertexKind, std::uint32_t>, std::size_t> child_of;

    Branch& child(const HostPath::Object& object) {
        const auto [found, fresh] =
            child_of.emplace(std::pair{object.kind, object.index}, children.size());
        if (fresh) {
            Branch& branch = children.emplace_back();
            branch.spec.kind = object.kind;
            branch.spec.name = object.name;
            branch.spec.uplink = object.uplink;
        }
        return children[found->second];
    }
    void add_leaf(int rank) {
        Branch& leaf = children.emplace_back();
        leaf.spec.kind = VertexKind::rank;
        leaf.spec.rank = rank;
    }
    TreeSpec take() {
        const bool alone_on_gpu = spec.kind == VertexKind::gpu && children.size() == 1;
        if (alone_on_gpu && children.front().spec.rank >= 0)
            spec.rank = children.front().spec.rank;
        else
            for (Branch& branch : children) spec.children.push_back(branch.take());
        return std::move(spec);
    }
};

Result<std::vector<HostPath>> cores_of(const Result<Machine>& machine) {
    if (!machine.ok()) return machine.status();
    std::vector<HostPath> cores = machine->paths_of_cores();
    if (cores.empty()) return Status(Code::invalid_argument, "the described host has no cores");
    return cores;
}

/// Loading takes tens of milliseconds and the machine stays the same; a binding is read anew.
const Result<Machine>& this_machine() {
    static const Result<Machine> machine = Machine::local();
    return machine;
}

const Result<Machine>& this_machine_with_devices() {
    static const Result<Machine> machine = Machine::local(Machine::Devices::shown);
    return machine;
}

/// The driver takes long to answer, and its answer stays the same.
NvmlGpu known_to_nvml(const std::string& bus_id) {
    static std::mutex mutex;
    static std::map<std::string, NvmlGpu> known;
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(bus_id); found != known.end()) return found->second;
    Result<NvmlGpu> answer = ask_nvml(bus_id);
    if (!answer.ok()) log(LogLevel::info, "{}", answer.status().message());
    return known[bus_id] = answer.ok() ? std::move(*answer) : NvmlGpu{};
}

Result<Machine> described_machine(std::string_view description) {
    std::error_code ignored;
    const bool is_path = description.ends_with(".xml") ||
                         description.find('/') != description.npos ||
                         std::filesystem::exists(description, ignored);
    return is_path ? Machine::xml(std::string(description))
                   : Machine::synthetic(std::string(description));
}

HostPath with_host_name(HostPath path) {
    if (!path.host_name.empty()) return path;
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    path.host_name = name;
    return path;
}

}  // namespace

Result<HostPath> this_rank_host_path() {
    const Result<Machine>& machine = this_machine();
    if (!machine.ok()) return machine.status();
    return with_host_name(machine->path_of_this_process());
}

Result<std::vector<HostPath>> this_host_core_paths() {
    const Result<Machine>& machine = this_machine();
    if (!machine.ok()) return machine.status();
    std::vector<HostPath> paths = machine->paths_of_cores();
    for (HostPath& path : paths) path = with_host_name(std::move(path));
    return paths;
}

Result<HostPath> this_host_path() {
    const Result<Machine>& machine = this_machine();
    if (!machine.ok()) return machine.status();
    return with_host_name(machine->path_of_all());
}

RankGpu this_rank_gpu(std::string_view bus_id) {
    const auto address = PciAddress::from(bus_id);
    if (!address) return {};
    const Result<Machine>& machine = this_machine_with_devices();
    RankGpu unseen;
    unseen.bus_id = address->text();
    if (!machine.ok()) return unseen;
    RankGpu gpu = machine->gpu(*address).value_or(unseen);
    if (!machine->has_several_of_nvidia(*address)) return gpu;
    NvmlGpu told = known_to_nvml(gpu.bus_id);
    gpu.links = std::move(told.links);
    if (told.pcie_gbytes_per_s > 0)
        gpu.path.back().uplink.bandwidth_gbytes_per_s = told.pcie_gbytes_per_s;
    return gpu;
}

HostFacts this_host_facts() {
    const Result<Machine>& machine = this_machine();
    return machine.ok() ? machine->facts() : HostFacts{};
}

Result<std::vector<HostPath>> cores_from_synthetic(std::string_view description) {
    return cores_of(Machine::synthetic(std::string(description)));
}

Result<std::vector<HostPath>> cores_from_xml(std::string_view path) {
    return cores_of(Machine::xml(std::string(path)));
}

Result<std::vector<HostPath>> described_cores(std::string_view description) {
    return cores_of(described_machine(description));
}

Result<std::vector<HostPath>> described_gpus(std::string_view description,
                                             std::vector<std::string>& notes) {
    const Result<Machine> machine = described_machine(description);
    if (!machine.ok()) return machine.status();
    std::vector<HostPath> gpus;
    for (auto& place : gpu_places(machine->gpus(), notes))
        gpus.push_back({machine->host_name(), std::move(place)});
    if (!gpus.empty()) return gpus;
    notes.emplace_back("no GPU is described: ranks are dealt to cores");
    return cores_of(machine);
}

TreeSpec dealt_host(const std::string& host_name, std::span<const HostPath> cores,
                    std::span<const int> ranks) {
    std::vector<HostPath> paths;
    for (std::size_t i = 0; i < ranks.size(); ++i) paths.push_back(cores[i % cores.size()]);
    return merge_host(host_name, paths, ranks);
}

Result<TreeSpec> host_from_description(std::string_view description, std::span<const int> ranks) {
    const Result<std::vector<HostPath>> cores = described_cores(description);
    if (!cores.ok()) return cores.status();
    if (ranks.empty()) return Status(Code::invalid_argument, "a described host has no ranks");
    return dealt_host(cores->front().host_name, *cores, ranks);
}

TreeSpec merge_host(const std::string& host_name, std::span<const HostPath> paths,
                    std::span<const int> ranks) {
    Branch host;
    host.spec.kind = VertexKind::host;
    host.spec.name = host_name;
    std::vector<std::size_t> order(ranks.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return ranks[a] < ranks[b]; });
    for (const std::size_t i : order) {
        Branch* at = &host;
        for (const HostPath::Object& object : paths[i].objects) at = &at->child(object);
        at->add_leaf(ranks[i]);
    }
    return host.take();
}

}  // namespace gradcoll

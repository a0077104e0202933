// topology/sources/host/machine.hpp - one machine as hwloc sees it. hwloc itself is known to
// machine.cpp, hwloc_objects.*, hwloc_xml.cpp and bitmap.* alone.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "topology/pci_address.hpp"
#include "topology/sources/host/gpu_places.hpp"
#include "topology/sources/job_host.hpp"

struct hwloc_obj;
struct hwloc_topology;

namespace gradcoll {

/// Owns a loaded hwloc topology. Not thread safe while loading, read only (so thread safe)
/// afterwards.
class Machine {
  public:
    /// Looking for PCI devices takes hwloc most of its time on some machines.
    enum class Devices : std::uint8_t { ignored, shown };

    /// This machine, or the one that HWLOC_XMLFILE / HWLOC_SYNTHETIC show. Errors: io with hwloc's
    /// reason.
    static Result<Machine> local(Devices devices = Devices::ignored);
    /// Errors: invalid_argument quoting the string; more than 2^20 objects in a level are refused.
    static Result<Machine> synthetic(const std::string& description);
    /// Errors: io if the file cannot be read, invalid_argument if hwloc does not take it.
    static Result<Machine> xml(const std::string& path);
    /// The text of such a file, not trusted: hwloc sees it only if checked_hwloc_xml() finds
    /// nothing wrong with it. `what` it is, for messages.
    static Result<Machine> xml_text(std::string_view xml, const std::string& what);

    std::string host_name() const;
    /// That most CPUs of a recorded machine are hidden, and what shows them; empty if they are not.
    std::string hidden_note() const;
    /// Down to the smallest object that holds the binding of the calling process (the whole machine
    /// if it has none).
    HostPath path_of_this_process() const;
    /// As far as the whole machine is one object: the path of a process without a binding.
    HostPath path_of_all() const;
    /// Down to each core in order, or to each PU where no core is described.
    std::vector<HostPath> paths_of_cores() const;
    /// By PCI address; none if devices are ignored. Links are those that an XML file tells of.
    std::vector<RankGpu> gpus() const;
    /// The device with that address, whatever hwloc takes it for; nothing if it shows none.
    std::optional<RankGpu> gpu(const PciAddress& address) const;
    /// Whether that GPU and another one are NVIDIA's: only then NVLink may join them.
    bool has_several_of_nvidia(const PciAddress& address) const;
    /// Nothing if this is another machine than the one that the process runs on.
    MachineFacts facts() const;

  private:
    struct Deleter {
        void operator()(hwloc_topology* topology) const;
    };
    using Handle = std::unique_ptr<hwloc_topology, Deleter>;

    explicit Machine(Handle topology) : topology_(std::move(topology)) {}
    static Result<Handle> prepared(Devices devices);
    static Result<Machine> loaded(Handle topology, const std::string& what, Code code);

    RankGpu seen(hwloc_obj* device) const;

    Handle topology_;
    std::map<std::string, std::vector<GpuLink>> links_;  ///< by PCI address
};

}  // namespace gradcoll

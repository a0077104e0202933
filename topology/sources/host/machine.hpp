// topology/sources/host/machine.hpp - one machine as hwloc sees it. Only machine.cpp,
// hwloc_objects.*, hwloc_xml.cpp, hwloc_versions.cpp and bitmap.* know hwloc.
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

/// A Machine owns a loaded hwloc topology. Not thread safe while loading; read only afterwards, and
/// then thread safe.
class Machine {
  public:
    /// Devices says whether to look for PCI devices, which takes hwloc most of its time on some
    /// machines.
    enum class Devices : std::uint8_t { ignored, shown };

    /// Loads this machine, or the one that HWLOC_XMLFILE / HWLOC_SYNTHETIC show: the file as xml()
    /// reads it, so that its version and its faults are not hwloc's to judge. Errors: io with
    /// hwloc's reason; those of xml().
    static Result<Machine> local(Devices devices = Devices::ignored);
    /// Builds a machine from a synthetic string. Errors: invalid_argument quoting the string; more
    /// than 2^20 objects in a level are refused.
    static Result<Machine> synthetic(const std::string& description);
    /// Loads an XML file. Errors: io if the file cannot be read, invalid_argument if hwloc refuses
    /// it.
    static Result<Machine> xml(const std::string& path);
    /// Loads the text of such a file. It is not trusted: hwloc sees it only if checked_hwloc_xml()
    /// finds no fault. `what` names it in messages.
    static Result<Machine> xml_text(std::string_view xml, const std::string& what);

    std::string host_name() const;
    /// Returns a note if most CPUs of a recorded machine are hidden, and what would show them; else
    /// an empty text.
    std::string hidden_note() const;
    /// Returns the path down to the smallest object that holds the binding of the calling process
    /// (the whole machine if it has none).
    HostPath path_of_this_process() const;
    /// Returns the path of a process without a binding: as far as the whole machine is one object.
    HostPath path_of_all() const;
    /// Returns the path down to each core in order, or to each PU if no core is described.
    std::vector<HostPath> paths_of_cores() const;
    /// Returns the GPUs by PCI address; none if devices are ignored. Links are those of an XML
    /// file.
    std::vector<RankGpu> gpus() const;
    /// Returns the device with that address, of whatever kind; nothing if there is none.
    std::optional<RankGpu> gpu(const PciAddress& address) const;
    /// Returns whether that GPU and another one are NVIDIA's: only then NVLink may join them.
    bool has_several_of_nvidia(const PciAddress& address) const;
    /// Returns nothing if this is not the machine that the process runs on.
    MachineFacts facts() const;

  private:
    struct Deleter {
        void operator()(hwloc_topology* topology) const;
    };
    using Handle = std::unique_ptr<hwloc_topology, Deleter>;

    explicit Machine(Handle topology) : topology_(std::move(topology)) {}
    static Result<Handle> prepared(Devices devices);
    /// `flags` are those of hwloc_topology_set_flags().
    static Result<Machine> from_file(const std::string& path, const std::string& what,
                                     Devices devices, unsigned long flags);
    static Result<Machine> from_text(std::string_view xml, const std::string& what, Devices devices,
                                     unsigned long flags);
    static Result<Machine> loaded(Handle topology, const std::string& what, Code code);

    RankGpu seen(hwloc_obj* device) const;

    Handle topology_;
    std::map<std::string, std::vector<GpuLink>> links_;  ///< by PCI address
};

}  // namespace gradcoll

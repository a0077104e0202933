// topology/fabric/infiniband/ib_reader.hpp - what the two recorded forms of an InfiniBand fabric
// have in common: devices with descriptions, cables that are listed from both of their ends,
// speeds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/status.hpp"
#include "topology/fabric/fabric.hpp"

namespace gradcoll {

/// "4xNDR" (or width "4x" and speed "NDR") as data rate in GB/s each direction; 0 for a speed that
/// is not known. Nothing if the text has another form. Source: InfiniBand Architecture
/// Specification, volume 2: signalling rates, less 8b/10b up to QDR and 64b/66b from FDR10 on.
std::optional<double> ib_gbytes_per_s(std::string_view width, std::string_view speed);

/// The name of the host that an adapter's description names: its first word ("node7 mlx5_0",
/// "node7 HCA-1"). Nothing if it is what adapters say before anyone named them ("MT4129 ConnectX7
/// Mellanox Technologies") or the device inside a switch ("Mellanox Technologies Aggregation
/// Node").
std::optional<std::string_view> ib_host_of(std::string_view description);

/// The short name in a switch's description: "MF0;leaf-1:MQM9701/U1" is "leaf-1",
/// "Voltaire 4036 # 4036-84FA" is "4036-84FA". Empty if it names the vendor alone.
std::string ib_switch_name_of(std::string_view description);

/// Collects devices and cables in any order.
class IbReader {
  public:
    enum class Kind : std::uint8_t { fabric_switch, adapter, router };
    /// One end of a cable. `guid` is whatever the source tells devices (or their ports) apart by.
    struct Port {
        Kind kind;
        std::string_view guid;
        int number = 0;
    };

    void describe(Kind kind, std::string_view guid, std::string_view description);
    /// The same two ports are one cable, from whichever end it is listed.
    void connect(const Port& a, const Port& b, double gbytes_per_s);
    /// Adapters without a host, and routers, are left out, with a note.
    Result<Fabric> take();

  private:
    struct Device {
        Kind kind;
        std::string guid;
        std::string description;
    };
    struct Cable {
        std::size_t a, b;  ///< devices
        double gbytes_per_s;
    };

    std::size_t device(Kind kind, std::string_view guid);
    std::vector<int> nodes_of_devices(FabricBuilder& builder);

    std::vector<Device> devices_;
    std::unordered_map<std::string, std::size_t> device_of_guid_;
    std::vector<Cable> cables_;
    std::unordered_set<std::string> ports_seen_;
};

}  // namespace gradcoll

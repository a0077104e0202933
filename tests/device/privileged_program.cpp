// Prints which settings this process has from elsewhere than the defaults, what it complains about,
// and which devices it finds.
#include <cstdio>

#include "base/options.hpp"
#include "device/devices.hpp"

int main() {
    using namespace gradcoll;
    const OptionSet& set = options_of_process();
    for (const OptionInfo& row : option_table())
        if (set.source(row.id) != OptionSource::default_value)
            std::printf("%s=%s\n", std::string(row.variable).c_str(), set.text(row.id).c_str());
    for (const OptionComplaint& complaint : set.complaints())
        std::printf("complaint: %s\n", complaint.text.c_str());
    const DevicePlugin* plugin = Devices::of_process().look_for_plugin();
    std::printf("devices: %s\n", plugin != nullptr ? plugin->name : "none");
    std::printf("home: %s\n", foreign_variable("HOME").c_str());
}

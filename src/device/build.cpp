// Apart from devices.cpp: of this folder plug-ins link this file and no other.
#include "base/build_facts.hpp"
#include "device/plugin.hpp"

namespace gradcoll {

const char* device_plugin_build() {
    static const std::string& text = *new std::string([] {
        std::string facts = build_facts::version;
        for (const char* fact :
             {build_facts::revision, build_facts::compiler, build_facts::sanitizers})
            if (*fact != '\0') facts.append(", ").append(fact);
        return facts;
    }());
    return text.c_str();
}

}  // namespace gradcoll

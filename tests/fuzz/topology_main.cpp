// fuzz_topology - feeds made-up texts to everything that a topology is read from: fuzz_topology
// --inputs 1000000.
#include "fuzz/runner.hpp"
#include "fuzz/topology_inputs.hpp"

int main(int argc, char** argv) {
    gradcoll::fuzz::Fuzz fuzz;
    fuzz.name = "fuzz_topology";
    fuzz.description = "Feeds made-up texts to everything that a topology is read from.";
    fuzz.targets = gradcoll::fuzz::topology_targets();
    fuzz.make = gradcoll::fuzz::make_topology_input;
    fuzz.inputs = 20'000;
    return run_fuzz(argc, argv, fuzz);
}

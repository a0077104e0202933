// fuzz_files - feeds made-up texts to everything else that is read from files, and from records in
// messages of other ranks: fuzz_files --inputs 1000000.
#include "fuzz/runner.hpp"

int main(int argc, char** argv) {
    gradcoll::fuzz::Fuzz fuzz;
    fuzz.name = "fuzz_files";
    fuzz.description =
        "Feeds made-up texts to readers of tunings, plans, caches, pages of counters, descriptions "
        "of models, and records of other ranks.";
    std::vector<gradcoll::fuzz::Target> targets = gradcoll::fuzz::files_targets();
    const auto of_mover = gradcoll::fuzz::mover_targets();
    targets.insert(targets.end(), of_mover.begin(), of_mover.end());
    fuzz.targets = targets;
    fuzz.inputs = 40'000;
    return run_fuzz(argc, argv, fuzz);
}

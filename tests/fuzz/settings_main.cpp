// fuzz_settings - feeds made-up texts to every parser of settings: fuzz_settings --inputs 10000000.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/config_file.hpp"
#include "fuzz/promises.hpp"
#include "fuzz/runner.hpp"

namespace gradcoll::fuzz {
namespace {

/// FileCheck checks that the same text reads the same from a disk.
class FileCheck {
  public:
    FileCheck() { std::filesystem::create_directory(folder_); }
    ~FileCheck() { std::filesystem::remove_all(folder_); }
    FileCheck(const FileCheck&) = delete;
    FileCheck& operator=(const FileCheck&) = delete;

    void run(const std::string& text) const {
        const std::string path = folder_ / "fuzz.conf";
        std::ofstream(path, std::ios::binary) << text;
        const ConfigFile read = read_config_file(path);
        const ConfigFile parsed = parse_config(text, path);
        if (read.entries.size() != parsed.entries.size() || read.complaints != parsed.complaints)
            broken("a file reads as its text does", text);
    }

  private:
    const std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / fmt::format("gradcoll-fuzz-{}", getpid());
};

}  // namespace
}  // namespace gradcoll::fuzz

int main(int argc, char** argv) {
    constexpr std::uint64_t between_files = 10'000;
    const gradcoll::fuzz::FileCheck files;
    gradcoll::fuzz::Fuzz fuzz;
    fuzz.name = "fuzz_settings";
    fuzz.description = "Feeds made-up texts to every parser of settings.";
    fuzz.targets = gradcoll::fuzz::settings_targets();
    fuzz.each = [&](std::uint64_t number, const std::string& text) {
        if (number % between_files == 0) files.run(text);
    };
    return run_fuzz(argc, argv, fuzz);
}

#include "report/write_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace gradcoll {
namespace {

Status failed(const std::string& path, int error) {
    return {Code::io, fmt::format("{} cannot be written: {}", path, std::strerror(error))};
}

/// Writes all, or keeps the first error number.
class Writer {
  public:
    explicit Writer(std::FILE* file) : file_(file) {}
    void write(std::string_view text) {
        if (error_ == 0 && std::fwrite(text.data(), 1, text.size(), file_) != text.size())
            error_ = errno;
    }
    int close() {
        if (std::fclose(file_) != 0 && error_ == 0) error_ = errno;
        return error_;
    }

  private:
    std::FILE* file_;
    int error_ = 0;
};

}  // namespace

Status write_file(const std::string& path, const std::function<void(const TextSink&)>& produce) {
    const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
    std::FILE* file = std::fopen(temporary.c_str(), "we");
    if (file == nullptr) return failed(path, errno);
    Writer writer(file);
    produce([&](std::string_view text) { writer.write(text); });
    int error = writer.close();
    if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
    if (error == 0) return {};
    std::remove(temporary.c_str());
    return failed(path, error);
}

Status write_file(const std::string& path, std::string_view text) {
    return write_file(path, [&](const TextSink& sink) { sink(text); });
}

}  // namespace gradcoll

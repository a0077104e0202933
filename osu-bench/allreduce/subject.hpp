// subject.hpp - the communicator under test: Gradcoll with one codec and the settings of the
// command line.
#pragma once

#include <gradcoll/gradcoll.h>

#include <string>

#include "options.hpp"

namespace gradcoll::bench {

/// A Subject owns a duplicate of MPI_COMM_WORLD. Making and destroying it is collective. Throws
/// std::invalid_argument with the library's message, on every rank, if a setting is refused.
class Subject {
  public:
    Subject(const Options& options, std::string codec);
    ~Subject();
    Subject(const Subject&) = delete;
    Subject& operator=(const Subject&) = delete;

    MPI_Comm comm() const { return comm_; }
    const std::string& codec() const { return codec_; }
    std::string tree(GC_Tree_format format) const;

  private:
    void apply(const Options& options);

    std::string codec_;
    MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Ends the job with the library's message if `code` is an error. It is for calls that must not
/// fail once the settings are accepted.
void require_success(int code, const char* call);

}  // namespace gradcoll::bench

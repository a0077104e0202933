// command_line/option_parser.hpp - the options of a program, and how they are read. CLI11
// does the work; its headers take seconds to compile, so only option_parser.cpp includes them.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_line/command_line.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace gradcoll {

/// Returns what --version prints.
std::string version_text(const std::string& name);

class OptionParser {
  public:
    /// An Option is one of the parser's, which owns it. Each function returns the option again.
    class Option {
      public:
        explicit Option(CLI::Option& option) : option_(option) {}

        /// Sets the name of its value in the help.
        Option* type_name(const std::string& name);
        /// Makes the help show the variable's present value.
        Option* capture_default_str();

        Option* required();
        Option* needs(const Option* other);
        Option* needs(const char* name);
        Option* excludes(const Option* other);
        Option* excludes(const char* name);

        /// Sets how many values it takes; the default is one, for a vector any number.
        Option* expected(int count);
        Option* expected(int least, int most);
        /// Sets the character between the values of a list.
        Option* delimiter(char between);
        /// Says whether a vector takes all words that follow, or one.
        Option* allow_extra_args(bool allowed);

        /// Checks a value, or each value of a list. Number is int, std::int64_t, std::uint64_t or
        /// double, like the variable.
        template <class Number>
        Option* in_range(Number least, Number most);
        Option* positive();
        Option* not_negative();
        Option* one_of(const std::vector<std::string>& allowed);
        Option* existing_file();
        /// Lets numbers end in K, M, ..., by 1024.
        Option* size_in_bytes();
        /// Adds a check that returns what is wrong with a text, or an empty text.
        Option* check(const std::function<std::string(const std::string&)>& problem_of);

      private:
        CLI::Option& option_;
    };

    OptionParser(const std::string& description, const std::string& name);
    ~OptionParser();

    /// Adds an option with `names` such as "-o,--out". The variable keeps its value if the option
    /// is not given. option_parser.cpp lists the types: std::string, integers, double, and vectors
    /// of some of these.
    template <class Value>
    Option* add_option(const std::string& names, Value& value, const std::string& help = "");
    Option* add_flag(const std::string& names, bool& value, const std::string& help);
    /// Adds a text at the end of the help.
    void footer(const std::string& text);

    /// Returns, after reading, how often the option was given.
    std::size_t count(const std::string& name) const;

    /// Reads the words into the variables, then checks all with `look`. `line` says whether to go
    /// on. Adds --help and --version. Local and the same on every rank: the caller prints the text
    /// on one of them.
    void parse_into(
        Ending& line, int argc, const char* const* argv,
        const std::function<Problem()>& look = [] { return Problem(); });
    /// Reads the words, and prints the text, in each process. Returns the exit status; nothing if
    /// the program is to run.
    std::optional<int> exit_status(
        int argc, const char* const* argv,
        const std::function<Problem()>& look = [] { return Problem(); });

  private:
    Option* own(CLI::Option* option);
    Ending ending_of(int argc, const char* const* argv, const std::function<Problem()>& look);

    std::unique_ptr<CLI::App> app_;
    std::deque<Option> options_;
};

}  // namespace gradcoll

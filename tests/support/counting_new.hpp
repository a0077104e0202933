// tests/support/counting_new.hpp - how often this program has called operator new. Link
// gradcoll_test_counting_new to replace the program's operator new.
#pragma once

namespace gradcoll::test {

long allocation_count();

}  // namespace gradcoll::test

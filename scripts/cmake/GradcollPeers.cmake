# What gc_allreduce can be measured beside in the same process, by what is installed; nothing of it is vendored or required.
#
# GRADCOLL_PEERS          mpi, and of ucc and zccl those that were found (CMAKE_PREFIX_PATH names other places)
# GRADCOLL_PEERS_MISSING  name=why, for the others
# gradcoll_add_peers(T)   gives target T a file a peer, its library, and the registry of all

set(GRADCOLL_PEERS mpi)
set(GRADCOLL_PEERS_MISSING "")

# gradcoll_find_peer(NAME HEADER LIBRARY): GRADCOLL_PEER_NAME_INCLUDE and _LIBRARY
function(gradcoll_find_peer name header library)
  string(TOUPPER "${name}" upper)
  find_path(GRADCOLL_PEER_${upper}_INCLUDE "${header}" DOC "Folder of ${header}, for gc_allreduce --peer ${name}")
  find_library(GRADCOLL_PEER_${upper}_LIBRARY "${library}" DOC "Library of gc_allreduce --peer ${name}")
  mark_as_advanced(GRADCOLL_PEER_${upper}_INCLUDE GRADCOLL_PEER_${upper}_LIBRARY)
  if(GRADCOLL_PEER_${upper}_INCLUDE AND GRADCOLL_PEER_${upper}_LIBRARY)
    list(APPEND GRADCOLL_PEERS "${name}")
  else()
    list(APPEND GRADCOLL_PEERS_MISSING "${name}=no ${header} and lib${library} were found")
  endif()
  set(GRADCOLL_PEERS "${GRADCOLL_PEERS}" PARENT_SCOPE)
  set(GRADCOLL_PEERS_MISSING "${GRADCOLL_PEERS_MISSING}" PARENT_SCOPE)
endfunction()

gradcoll_find_peer(ucc ucc/api/ucc.h ucc)
# ZCCL takes sizeof(MPI_Datatype) for the size of an element: right for float where handles are integers, a write behind the
# buffer's end where they are pointers.
if(GRADCOLL_MPI_FAMILY STREQUAL "mpich")
  gradcoll_find_peer(zccl ZCCL.h ZCCL)
else()
  list(APPEND GRADCOLL_PEERS_MISSING "zccl=needs an MPI with handles of 4 bytes such as MPICH")
endif()
message(STATUS "gradcoll: peers of gc_allreduce: ${GRADCOLL_PEERS}")

function(gradcoll_add_peers target)
  set(declarations "")
  set(calls "")
  foreach(peer IN LISTS GRADCOLL_PEERS)
    string(APPEND declarations "PeerKind ${peer}_peer();\n")
    list(APPEND calls "${peer}_peer()")
    target_sources(${target} PRIVATE peers/${peer}.cpp)
    string(TOUPPER "${peer}" upper)
    if(GRADCOLL_PEER_${upper}_LIBRARY)
      target_link_libraries(${target} PRIVATE "${GRADCOLL_PEER_${upper}_LIBRARY}")
      target_include_directories(${target} SYSTEM PRIVATE "${GRADCOLL_PEER_${upper}_INCLUDE}")
    endif()
  endforeach()
  set(reasons "")
  foreach(missing IN LISTS GRADCOLL_PEERS_MISSING)
    string(REGEX REPLACE "^([^=]+)=(.*)$" "{\"\\1\", \"\\2\"}" entry "${missing}")
    list(APPEND reasons "${entry}")
  endforeach()
  set(GRADCOLL_PEER_DECLARATIONS "${declarations}")
  list(JOIN calls ", " GRADCOLL_PEER_CALLS)
  list(JOIN reasons ", " GRADCOLL_PEER_REASONS)
  configure_file("${CMAKE_CURRENT_SOURCE_DIR}/peers/registry.cpp.in" "${CMAKE_CURRENT_BINARY_DIR}/registry.cpp" @ONLY)
  target_sources(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/registry.cpp")
endfunction()

gradcoll_extension(builder flexreduce
  SOURCES allgather.cpp builder.cpp flexreduce.cpp level.cpp limits.cpp reduce_scatter.cpp)

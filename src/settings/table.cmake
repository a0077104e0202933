# Every setting, by folder: in the order in which they are listed, and in which the values of one communicator are read.
# Included before all modules: src/base compiles what a setting is called (kind option), and src/settings what its
# value means for a communicator (kind setting). A setting of the process alone is an option only.
set(setting_folders
  topology
  codec
  filters
  tree
  engine
  process
  report)
list(TRANSFORM setting_folders PREPEND src/settings/)
gradcoll_table(option ${setting_folders})
gradcoll_table(setting ${setting_folders})

/* gradcoll.h - the short spelling of <gradcoll/gradcoll.h>. */
#ifndef GRADCOLL_H
#define GRADCOLL_H
#include <gradcoll/gradcoll.h>
#endif

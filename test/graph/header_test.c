/* Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * wavesan/graph.h from C, with nothing in front of it. */
#include <wavesan/graph.h>

/* Sizes of version 1: programs built against it must go on working. */
_Static_assert(sizeof(wavesan_graph_properties_t) == 24, "properties");
_Static_assert(sizeof(wavesan_graph_instantiate_desc_t) == 16, "instantiate");
_Static_assert(sizeof(wavesan_graph_dump_desc_t) == 16, "dump");
_Static_assert(offsetof(wavesan_graph_node_info_t, hip_node) == 120, "node");

uint32_t wavesan_graph_version_from_c(void);
uint32_t wavesan_graph_version_from_c(void) {
  wavesan_graph_properties_t properties = {sizeof properties, 0, 0, 0, 0};
  return wavesan_graph_get_properties(&properties) == WAVESAN_GRAPH_SUCCESS ? properties.version : 0;
}

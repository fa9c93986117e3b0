/* Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Record and replay graph: the work of a region - kernels, copies, fills, host functions, over several streams - becomes an object that can be
 * inspected, instantiated, and run again any number of times.
 *
 *   wavesan_graph_begin_capture(stream, mode)       from here on what is put into the stream is recorded, not executed
 *     kernel<<<..., stream>>>(...)                  ... and into streams that wait for an event that was recorded in it (a fork),
 *     hipMemcpyAsync(..., stream)                       until it waits for them again (the join)
 *   wavesan_graph_end_capture(stream, &graph)
 *   wavesan_graph_instantiate(graph, NULL, &executable)
 *   wavesan_graph_append(stream, executable, ...)   as often as wanted, in any stream
 *   wavesan_executable_graph_destroy(executable), wavesan_graph_destroy(graph)
 *
 * Link with -lwavesan-graph -lwavesan-hip, in front of HIP's own library; docs/graph.md. Plain C, no other header of WaveSan or HIP is needed:
 * streams and events are HIP's handles (hipStream_t, hipEvent_t), passed as void *. Structures begin with their size, which the caller sets.
 *
 * RESULTS. Each call returns a wavesan_graph_result_t, and wavesan_graph_hip_error() then says which hipError_t goes with it, for this thread: 0 where
 * the call succeeded or failed without HIP. HIP's codes of stream capture, 900 to 908, are kept where they apply ("HIP: ...", below). In general:
 *
 *   ERROR_INVALID_NULL_HANDLE    a graph or executable graph that is null
 *   ERROR_INVALID_GRAPH          one that does not exist (any more), or is not in a state for the call. HIP: 1 (hipErrorInvalidValue)
 *   ERROR_INVALID_NULL_POINTER   another argument that must not be null
 *   ERROR_INVALID_ARGUMENT       a structure's size or a flag that this version does not know
 *   ERROR_UNSUPPORTED_FEATURE    HIP cannot do it, or this version of WaveSan cannot. HIP: 801 or 900
 *   ERROR_HIP                    a function of HIP failed: its code
 *   ERROR_OUT_OF_MEMORY          of the host. HIP: 2
 *
 * A call that fails changes nothing, unless it says so.
 *
 * THREADS. All calls can be made from any thread at any time; calls about one graph exclude one another. Callbacks are made by the calling thread
 * with no lock held, and may call everything here. A stream, as in HIP, is not to be used by two threads at a time while it is recorded.
 *
 * RECORDED CALLS. While a stream is recorded, HIP's functions do this in it:
 *
 *   hipLaunchKernel (<<<>>>), hipModuleLaunchKernel, hipExtLaunchKernel and hipExtModuleLaunchKernel (without flags, whole workgroups), hipMemcpyAsync and its typed
 *   forms, hipMemcpy2DAsync, hipMemcpy3DAsync, hipMemcpyPeerAsync, hipMemcpyTo/FromSymbolAsync, hipMemsetAsync, hipMemsetD8/D16/D32Async,
 *   hipMemset2DAsync (rows side by side, or up to 4,096), hipMemset3DAsync where the slices lie as far apart as their rows (ysize is the height, or depth
 *   is 1), hipLaunchHostFunc
 *       become a node that depends on what was put into the stream before. Arguments of kernels are copied. Events of a launch are recorded in front
 *       of it and behind it.
 *   hipEventRecord, hipStreamWaitEvent
 *       become dependencies. A stream that waits for an event recorded in a capture joins that capture. With HIP's flag 1 (external), or an
 *       external event (below), they become nodes that record and wait at each append.
 *   hipStreamIsCapturing, hipStreamGetCaptureInfo    answer as for HIP's own captures.
 *
 * and these fail. A call that belongs into the graph and cannot be recorded makes the capture invalid, so that no graph comes out that lacks it; what
 * else is refused changes nothing. An invalid capture refuses everything with 901 until it is ended. hipGetLastError and hipPeekAtLastError know of
 * refused calls, which launches by <<<>>> need; `wavesan run` prints a line for each command that is refused, up to ten.
 *
 *   every other command - hipMallocAsync and hipFreeAsync, cooperative launches, hipStreamAddCallback, copies that hip_Memcpy2D or HIP_MEMCPY3D
 *   describe -, hipStreamSynchronize, hipStreamQuery, hipGraphLaunch      900 hipErrorStreamCaptureUnsupported; invalid
 *   copies between two places in host memory that HIP does not know (pageable), and fills with a row that ends in front of the first multiple of eight
 *   bytes behind its beginning: HIP 5.2.3's nodes for them crash              900; invalid
 *   hipStreamWaitEvent for an event of another capture                             902 hipErrorStreamCaptureMerge; invalid
 *   hipStreamWaitEvent for an event that was not recorded in this capture          905 hipErrorStreamCaptureIsolation; invalid
 *   hipEventQuery, hipEventSynchronize of an event that was last recorded in a capture that is under way        907 hipErrorCapturedEvent
 *   a kernel with more dynamic LDS than the device has for it                      2 hipErrorOutOfMemory, as a launch; invalid
 *   a command in the legacy default stream while a blocking stream is recorded     906 hipErrorStreamCaptureImplicit (not in mode RELAXED)
 *   hipStreamBeginCapture                                                          401 hipErrorIllegalState
 *   hipStreamEndCapture                                                            903 hipErrorStreamCaptureUnmatched
 *   hipStreamDestroy                                                               900
 *   synchronous copies and fills, allocations, frees, hipDeviceSynchronize         900, by mode:
 *     GLOBAL: in all threads while one captures; THREAD_LOCAL: in the thread that captures; RELAXED: allowed. A thread whose own mode
 *     (hipThreadExchangeStreamCaptureMode) is relaxed may always (906 stays where they work in the legacy default stream),
 *     one whose own mode is thread-local is not bound by other threads. */
#ifndef WAVESAN_GRAPH_H
#define WAVESAN_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WAVESAN_GRAPH_API_VERSION 1u

typedef struct wavesan_graph *wavesan_graph_t;
typedef struct wavesan_executable_graph *wavesan_executable_graph_t;
typedef void *wavesan_graph_stream_t; /* a hipStream_t */
typedef void *wavesan_graph_event_t;  /* a hipEvent_t */

typedef enum wavesan_graph_result {
  WAVESAN_GRAPH_SUCCESS = 0,
  WAVESAN_GRAPH_QUERY_TRUE = 1,
  WAVESAN_GRAPH_QUERY_FALSE = 2,
  WAVESAN_GRAPH_ERROR_INVALID_GRAPH = 3,
  WAVESAN_GRAPH_ERROR_INVALID_NULL_HANDLE = 4,
  WAVESAN_GRAPH_ERROR_INVALID_NULL_POINTER = 5,
  WAVESAN_GRAPH_ERROR_INVALID_ARGUMENT = 6,
  WAVESAN_GRAPH_ERROR_UNSUPPORTED_FEATURE = 7,
  WAVESAN_GRAPH_ERROR_IN_USE = 8,
  WAVESAN_GRAPH_ERROR_HIP = 9,
  WAVESAN_GRAPH_ERROR_OUT_OF_MEMORY = 10,
  WAVESAN_GRAPH_ERROR_FILE = 11 /* a dump cannot be written */
} wavesan_graph_result_t;

/* hipError_t that goes with the result of this thread's last call of this header, other than this one. */
int wavesan_graph_hip_error(void);

/* hipStreamCaptureMode's values. */
typedef enum wavesan_graph_capture_mode {
  WAVESAN_GRAPH_CAPTURE_GLOBAL = 0,
  WAVESAN_GRAPH_CAPTURE_THREAD_LOCAL = 1,
  WAVESAN_GRAPH_CAPTURE_RELAXED = 2
} wavesan_graph_capture_mode_t;

/* -- Properties ------------------------------------------------------------------------------------------------------------------------------- */

#define WAVESAN_GRAPH_FLAG_IMMUTABLE_GRAPH 1u /* graphs can be recorded, instantiated and appended: the minimum */
#define WAVESAN_GRAPH_FLAG_MUTABLE_GRAPH 2u   /* nodes of executable graphs can be changed: "Changes", below */

typedef struct wavesan_graph_properties {
  size_t size;
  uint32_t version;      /* WAVESAN_GRAPH_API_VERSION of the library */
  uint32_t flags;        /* WAVESAN_GRAPH_FLAG_*; 0: HIP lacks a function that is needed */
  uint32_t recording;    /* 1: HIP's calls of the program can be recorded; 0: libwavesan-hip.so does not stand in front of HIP's library */
  uint32_t external_events; /* 1: nodes that record events and wait for them can be made */
} wavesan_graph_properties_t;

/* What can be done in this process. NULL_POINTER, INVALID_ARGUMENT (size below that of version 1). HIP: 0. */
wavesan_graph_result_t wavesan_graph_get_properties(wavesan_graph_properties_t *properties);

/* -- Graphs and recording --------------------------------------------------------------------------------------------------------------------- */

/* An empty graph, to be recorded into. `*graph` belongs to the caller: wavesan_graph_destroy. NULL_POINTER; HIP's code of hipGraphCreate. */
wavesan_graph_result_t wavesan_graph_create(wavesan_graph_t *graph);

/* Destroys a graph. Executable graphs made of it live on. Its destruction callback is called, when all is done.
 * NULL_HANDLE; INVALID_GRAPH; IN_USE (it is being recorded): HIP 900. */
wavesan_graph_result_t wavesan_graph_destroy(wavesan_graph_t graph);

/* `callback(data)` is called once, when the graph has been destroyed; null: none. Replaces an earlier one.
 * NULL_HANDLE; INVALID_GRAPH. */
wavesan_graph_result_t wavesan_graph_set_destruction_callback(wavesan_graph_t graph, void (*callback)(void *data), void *data);

/* Begins recording the stream into a graph that wavesan_graph_end_capture hands out. INVALID_ARGUMENT: unknown mode. UNSUPPORTED_FEATURE: the legacy
 * default stream (HIP 900), or HIP's calls cannot be recorded in this process (properties; HIP 801). ERROR_HIP: it is being recorded already, by
 * WaveSan or HIP (401). */
wavesan_graph_result_t wavesan_graph_begin_capture(wavesan_graph_stream_t stream, wavesan_graph_capture_mode_t mode);

/* The same, into a graph that is empty: else INVALID_GRAPH. NULL_HANDLE. */
wavesan_graph_result_t wavesan_graph_begin_capture_into(wavesan_graph_stream_t stream, wavesan_graph_t graph, wavesan_graph_capture_mode_t mode);

/* Ends recording. `*graph`, if not null, gets the graph, which belongs to the caller; null is for graphs of wavesan_graph_begin_capture_into (else
 * NULL_POINTER). The capture goes on after INVALID_GRAPH with HIP 903 (no capture begun in this stream) or 908 (begun by another thread, and not
 * RELAXED), and NULL_POINTER. It has ended, without a graph, after INVALID_GRAPH with HIP 901 (it is invalid) or 904 (a fork was not joined); a
 * graph that was recorded into is empty again then, and streams and events can be used as before. */
wavesan_graph_result_t wavesan_graph_end_capture(wavesan_graph_stream_t stream, wavesan_graph_t *graph);

/* Between pause and resume what is put into the capture's streams is executed and not recorded, and refused calls are not refused. `stream`: any
 * stream of the capture. INVALID_GRAPH: no capture (HIP 903), an invalid one (901), paused or not paused already (401). */
wavesan_graph_result_t wavesan_graph_pause_capture(wavesan_graph_stream_t stream);
wavesan_graph_result_t wavesan_graph_resume_capture(wavesan_graph_stream_t stream);

/* QUERY_TRUE: the stream is being recorded, as the first one or as a fork, paused or not. QUERY_FALSE. HIP 901 beside QUERY_TRUE: the capture is
 * invalid. */
wavesan_graph_result_t wavesan_graph_is_capturing(wavesan_graph_stream_t stream);

/* The graph that the stream is being recorded into. It can be looked at and is not to be destroyed before the end. NULL_POINTER; INVALID_GRAPH: the
 * stream is not being recorded (HIP 903). */
wavesan_graph_result_t wavesan_graph_of_stream(wavesan_graph_stream_t stream, wavesan_graph_t *graph);

/* The stream in which the recording began; null for one that has not been recorded. It may have been destroyed since.
 * NULL_HANDLE; NULL_POINTER; INVALID_GRAPH. */
wavesan_graph_result_t wavesan_graph_primary_stream(wavesan_graph_t graph, wavesan_graph_stream_t *stream);

/* A number that no other graph of the process has. NULL_HANDLE; NULL_POINTER; INVALID_GRAPH. */
wavesan_graph_result_t wavesan_graph_id(wavesan_graph_t graph, uint64_t *id);

/* QUERY_TRUE or QUERY_FALSE: whether it has no nodes. NULL_HANDLE; INVALID_GRAPH. */
wavesan_graph_result_t wavesan_graph_is_empty(wavesan_graph_t graph);

/* -- Execution -------------------------------------------------------------------------------------------------------------------------------- */

typedef struct wavesan_graph_instantiate_desc {
  size_t size;
  uint32_t flags; /* 0 or WAVESAN_GRAPH_FLAG_IMMUTABLE_GRAPH; MUTABLE_GRAPH: it can be changed, else UNSUPPORTED_FEATURE, HIP 801 */
} wavesan_graph_instantiate_desc_t;

/* Makes an executable graph. `desc` may be null. `*executable` belongs to the caller and does not need the graph any more: it may be destroyed (HIP's
 * graph stays as long as an executable graph that can be changed). NULL_HANDLE; NULL_POINTER;
 * INVALID_GRAPH: also one that is being recorded (HIP 900); INVALID_ARGUMENT; ERROR_HIP: hipGraphInstantiate's code. */
wavesan_graph_result_t wavesan_graph_instantiate(wavesan_graph_t graph, const wavesan_graph_instantiate_desc_t *desc,
                                                 wavesan_executable_graph_t *executable);

/* Puts the graph into the stream: it runs after `wait_events` and what was put into the stream before, and then `signal_event` (may be null) is recorded.
 * Runs of one executable graph follow one another. NULL_HANDLE; INVALID_GRAPH; NULL_POINTER (wait_events); UNSUPPORTED_FEATURE: the stream is being
 * recorded (HIP 900), nothing changes. ERROR_HIP: the code of hipStreamWaitEvent, hipGraphLaunch or hipEventRecord; waits before it have been made. */
wavesan_graph_result_t wavesan_graph_append(wavesan_graph_stream_t stream, wavesan_executable_graph_t executable, wavesan_graph_event_t signal_event,
                                            uint32_t wait_event_count, const wavesan_graph_event_t *wait_events);

/* NULL_HANDLE; INVALID_GRAPH; IN_USE: a run, or what was put into its stream behind it, has not ended (HIP 600, hipErrorNotReady), or cannot be asked for
 * (the code). It can be asked again. */
wavesan_graph_result_t wavesan_executable_graph_destroy(wavesan_executable_graph_t executable);

/* The graph it was made of. NULL_HANDLE; NULL_POINTER; INVALID_GRAPH: it, or the graph it was made of, does not exist any more. */
wavesan_graph_result_t wavesan_executable_graph_source(wavesan_executable_graph_t executable, wavesan_graph_t *graph);

/* -- Changes ---------------------------------------------------------------------------------------------------------------------------------- */
/* Of an executable graph that was instantiated with WAVESAN_GRAPH_FLAG_MUTABLE_GRAPH. A change counts for the appends that follow it; runs that have been
 * appended are as they were. The graph it was made of, its dump and other executable graphs stay the same. What can be changed: shape and arguments of a
 * kernel (not which kernel), copies and fills of one row, between addresses. Edges, host functions and events cannot.
 *
 * `node`: the id that wavesan_graph_visit shows. All parameters are set; the structures' pointers are read during the call.
 * NULL_HANDLE; NULL_POINTER: params, or one of its pointers; INVALID_GRAPH; INVALID_ARGUMENT: its size, a node that does not exist or is of another kind,
 * values that make no sense. UNSUPPORTED_FEATURE (HIP 801): the executable graph is immutable, HIP lacks the function, or the node is a copy or fill that
 * cannot be changed, or a kernel that was launched with `extra` (hipModuleLaunchKernel). ERROR_HIP: the code of hipGraphExecKernelNodeSetParams, ...MemcpyNodeSetParams1D or ...MemsetNodeSetParams; 2 (hipErrorOutOfMemory): more
 * dynamic LDS than the device has for the kernel. */

typedef struct wavesan_graph_kernel_params {
  size_t size;
  uint32_t grid_size[3]; /* work-items, multiples of workgroup_size */
  uint32_t workgroup_size[3];
  uint32_t group_segment_bytes; /* dynamic */
  void **arguments;             /* as for hipLaunchKernel; copied */
} wavesan_graph_kernel_params_t;
wavesan_graph_result_t wavesan_executable_graph_set_kernel(wavesan_executable_graph_t executable, uint64_t node,
                                                           const wavesan_graph_kernel_params_t *params);

typedef struct wavesan_graph_copy_params {
  size_t size;
  void *destination;
  const void *source;
  uint64_t bytes;
  int kind; /* hipMemcpyKind */
} wavesan_graph_copy_params_t;
wavesan_graph_result_t wavesan_executable_graph_set_copy(wavesan_executable_graph_t executable, uint64_t node,
                                                         const wavesan_graph_copy_params_t *params);

typedef struct wavesan_graph_fill_params {
  size_t size;
  void *destination;
  uint32_t value;
  uint32_t element_bytes; /* 1, 2 or 4 */
  uint64_t count;         /* elements */
} wavesan_graph_fill_params_t;
wavesan_graph_result_t wavesan_executable_graph_set_fill(wavesan_executable_graph_t executable, uint64_t node,
                                                         const wavesan_graph_fill_params_t *params);

/* -- External events -------------------------------------------------------------------------------------------------------------------------- */
/* An event in a capture is a dependency inside the graph. An external one stands for something outside: at each append, a wait waits for the record
 * that is the event's latest by then, and a signal records the event anew, so that hipEventQuery says not ready until the run gets there. */

#define WAVESAN_GRAPH_EVENT_EXTERNAL 1u

/* Creates an event (without timing) all of whose records and waits in captures are external. It belongs to the caller: hipEventDestroy, or
 * wavesan_graph_event_destroy. `flags`: WAVESAN_GRAPH_EVENT_EXTERNAL or 0. NULL_POINTER; INVALID_ARGUMENT; ERROR_HIP: hipEventCreateWithFlags' code. */
wavesan_graph_result_t wavesan_graph_event_create(uint32_t flags, wavesan_graph_event_t *event);
/* NULL_POINTER; ERROR_HIP: hipEventDestroy's code. */
wavesan_graph_result_t wavesan_graph_event_destroy(wavesan_graph_event_t event);

/* As hipStreamWaitEvent and hipEventRecord; with WAVESAN_GRAPH_EVENT_EXTERNAL this one wait or record is external, if the stream is being recorded.
 * INVALID_ARGUMENT: flags; NULL_POINTER: event; ERROR_HIP: the code that HIP's function gives, those of captures included. */
wavesan_graph_result_t wavesan_graph_append_wait(wavesan_graph_stream_t stream, wavesan_graph_event_t event, uint32_t flags);
wavesan_graph_result_t wavesan_graph_append_signal(wavesan_graph_stream_t stream, wavesan_graph_event_t event, uint32_t flags);

/* -- Inspection ------------------------------------------------------------------------------------------------------------------------------- */

typedef enum wavesan_graph_node_kind {
  WAVESAN_GRAPH_NODE_KERNEL = 1,
  WAVESAN_GRAPH_NODE_COPY = 2,
  WAVESAN_GRAPH_NODE_FILL = 3,
  WAVESAN_GRAPH_NODE_HOST = 4,
  WAVESAN_GRAPH_NODE_EVENT_WAIT = 5,
  WAVESAN_GRAPH_NODE_EVENT_SIGNAL = 6
} wavesan_graph_node_kind_t;

/* Valid during the callback. */
typedef struct wavesan_graph_node_info {
  size_t size;
  uint64_t id; /* from 1, in the order of recording: a node's dependencies have lower ones */
  wavesan_graph_node_kind_t kind;
  const char *name;     /* of a kernel, demangled where possible; else HIP's function */
  const char *function; /* HIP's function that was recorded */
  uint64_t stream;      /* 0: the capture's first stream; its forks from 1, in the order in which they joined */
  const uint64_t *dependencies; /* ids */
  size_t dependency_count;
  uint32_t grid_size[3]; /* of kernels: work-items; else 0 */
  uint32_t workgroup_size[3];
  uint32_t group_segment_bytes; /* of kernels: dynamic */
  const void *destination, *source; /* of copies and fills, where known */
  uint64_t bytes;                   /* of copies and fills, without gaps between rows */
  void *hip_node;                   /* hipGraphNode_t in the graph that HIP keeps; not to be changed */
} wavesan_graph_node_info_t;

/* Calls `visit` for each node, in the order of ids, until it returns something other than 0, which is no error. The graph may be one that is being
 * recorded: the nodes so far. NULL_HANDLE; NULL_POINTER; INVALID_GRAPH. */
wavesan_graph_result_t wavesan_graph_visit(wavesan_graph_t graph, int (*visit)(const wavesan_graph_node_info_t *node, void *data), void *data);

/* Two nodes that touch the same bytes, one of them writing, and that no path of edges orders. Valid during the callback. */
typedef struct wavesan_graph_conflict {
  size_t size;
  uint64_t first, second; /* ids of nodes: the edge from first to second is missing */
  const void *address;    /* of the first of the bytes */
  uint64_t bytes;
  uint32_t seen_in_run; /* 1: what one of them touches is what the same kernel with the same arguments touched when it ran last */
} wavesan_graph_conflict_t;

/* Calls `visit` for each conflict, until it returns something other than 0. What copies and fills touch is known by their arguments, what kernels touch
 * where the same launch has run before under `wavesan run` on the CPU agent, in a graph or not. wavesan_graph_instantiate prints conflicts there.
 * NULL_HANDLE; NULL_POINTER; INVALID_GRAPH; UNSUPPORTED_FEATURE (HIP 801): more than 8,192 nodes, or too many accesses to be compared. */
wavesan_graph_result_t wavesan_graph_visit_conflicts(wavesan_graph_t graph, int (*visit)(const wavesan_graph_conflict_t *conflict, void *data), void *data);

typedef enum wavesan_graph_dump_mode {
  WAVESAN_GRAPH_DUMP_DETAILED = 0, /* everything in wavesan_graph_node_info_t */
  WAVESAN_GRAPH_DUMP_SIMPLE = 1    /* kinds, names and dependencies */
} wavesan_graph_dump_mode_t;

typedef enum wavesan_graph_dump_format { WAVESAN_GRAPH_DUMP_DOT = 0, WAVESAN_GRAPH_DUMP_JSON = 1 } wavesan_graph_dump_format_t;

typedef struct wavesan_graph_dump_desc {
  size_t size;
  wavesan_graph_dump_mode_t mode;
  wavesan_graph_dump_format_t format;
} wavesan_graph_dump_desc_t;

/* Writes the graph to a file; `desc` may be null: DETAILED, DOT. Nodes that conflict (above) are marked, with the edge that is missing. NULL_HANDLE; NULL_POINTER (path); INVALID_ARGUMENT; INVALID_GRAPH; ERROR_FILE: errno says why. */
wavesan_graph_result_t wavesan_graph_dump(wavesan_graph_t graph, const char *path, const wavesan_graph_dump_desc_t *desc);

/* -- Regions of `wavesan record` -------------------------------------------------------------------------------------------------------------- */

/* Marks a region of the program for `wavesan record --region=NAME`: what is put into any stream by any thread between begin and end. Regions nest, per
 * thread; end ends the one that this thread began last. Without `wavesan record` they do nothing. The markers of ROCTX (roctxRangePush, roctxRangePop,
 * roctxRangeStart, roctxRangeStop) do the same. These functions are of libwavesan-hip.so. */
void wavesan_region_begin(const char *name);
void wavesan_region_end(void);

#ifdef __cplusplus
}
#endif

#endif /* WAVESAN_GRAPH_H */

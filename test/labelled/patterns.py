# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The patterns of the labelled kernels, and how each of them is broken.

A pattern is a function that yields variants. A variant is a kernel body with one label: clean, or racy with the class of its race. It
is the body that makes the label true, by construction: the racy one differs from the clean one of its pattern by the synchronisation that
it lacks, and the conflict that this leaves does not depend on the order of the waves.

In a body, T is the element type, B the number of work-items of a workgroup, G of workgroups; lines with a comment "@" are those that a report
of this kernel may name. Every conflict crosses a boundary of 64 lanes, so that the label holds for both sizes of waves; variants for which
it does not say so in `racy_on`.

The parameters of every kernel: (const T *in, T *out, T *scratch, unsigned *flags). `out`, `scratch` and `flags` are zero before each launch and
large enough for 64 elements per work-item.
"""
from dataclasses import dataclass

# Vector and sub-dword types are moved, not computed with.
TYPES = ("signed char", "short", "int", "float", "double", "long long", "int4")
COUNTERS = ("int", "unsigned", "unsigned long long")
SHAPES = ((128, 1), (256, 2), (1024, 1), (192, 3), (130, 1))  # work-items of a workgroup, workgroups


@dataclass
class Variant:
    pattern: str
    bug: str  # "" for the clean one
    body: str
    types: tuple = TYPES
    shapes: tuple = SHAPES
    kind: str = "race"  # class of the report
    block: tuple = ()  # extents in x and y instead of (B, 1)
    racy_on: tuple = ("gfx90a", "gfx1030")
    globals: str = ""  # in front of the kernel; K is its name
    also: tuple = ()  # further classes that describe the same mistake

    @property
    def racy(self):
        return self.bug != ""


def barrier(present):
    return "__syncthreads();" if present else ""


def lds_exchange():
    """Write one's own element, read another wave's."""
    for bug in ("", "no-barrier"):
        for name, index in (("mirror", "B - 1 - t"), ("shift", "(t + 64) % B"), ("last", "B - 1")):
            yield Variant(f"lds-exchange-{name}", bug, f"""
  __shared__ T tile[B];
  int t = threadIdx.x;
  tile[t] = in[t]; // @
  {barrier(not bug)}
  out[blockIdx.x * B + t] = tile[{index}]; // @
""")


def lds_exchange_dynamic():
    for bug in ("", "no-barrier"):
        yield Variant("lds-exchange-dynamic", bug, f"""
  HIP_DYNAMIC_SHARED(double, memory)
  T *tile = (T *)memory;
  int t = threadIdx.x;
  tile[t] = in[t]; // @
  {barrier(not bug)}
  out[blockIdx.x * B + t] = tile[B - 1 - t]; // @
""")


def lds_broadcast():
    for bug in ("", "no-barrier"):
        yield Variant("lds-broadcast", bug, f"""
  __shared__ T value;
  int t = threadIdx.x;
  if (t == B - 1)
    value = in[t]; // @
  {barrier(not bug)}
  out[blockIdx.x * B + t] = value; // @
""")


def lds_loop():
    """A tile that every pass of a loop fills and reads."""
    for bug, first, second in (("", 1, 1), ("no-barrier-after-write", 0, 1), ("no-barrier-before-next-write", 1, 0)):
        yield Variant("lds-loop", bug, f"""
  __shared__ T tile[B];
  int t = threadIdx.x;
  for (int pass = 0; pass < 3; ++pass) {{
    tile[t] = in[pass * B + t]; // @
    {barrier(first)}
    out[(blockIdx.x * 3 + pass) * B + t] = tile[B - 1 - t]; // @
    {barrier(second)}
  }}
""")


def lds_double_buffer():
    """Two buffers need one barrier a pass; reading the one that is being filled is a race."""
    for bug, read, synchronise in (("", "pass & 1", 1), ("no-barrier", "pass & 1", 0), ("wrong-buffer", "(pass + 1) & 1", 1)):
        yield Variant("lds-double-buffer", bug, f"""
  __shared__ T tile[2][B];
  int t = threadIdx.x;
  tile[1][t] = in[t];
  __syncthreads();
  for (int pass = 0; pass < 4; ++pass) {{
    tile[pass & 1][t] = in[pass * B + t]; // @
    {barrier(synchronise)}
    out[(blockIdx.x * 4 + pass) * B + t] = tile[{read}][B - 1 - t]; // @
  }}
""")


def lds_reduction():
    for bug, inside in (("", 1), ("no-barrier-in-loop", 0)):
        yield Variant("lds-reduction", bug, f"""
  __shared__ T sums[B];
  int t = threadIdx.x;
  sums[t] = in[t]; // @
  __syncthreads();
  for (int stride = B / 2; stride > 0; stride /= 2) {{
    if (t < stride)
      sums[t] += sums[t + stride]; // @
    {barrier(inside)}
  }}
  if (t == 0)
    out[blockIdx.x] = sums[0];
""", types=("int", "float", "double", "long long", "short"), shapes=((256, 2), (512, 1), (1024, 1)))


def lds_scan():
    """Hillis and Steele: one buffer needs two barriers a step, and two buffers one."""
    for bug, first, second in (("", 1, 1), ("no-barrier-between", 0, 1), ("no-barrier-at-end", 1, 0)):
        yield Variant("lds-scan", bug, f"""
  __shared__ T sums[B];
  int t = threadIdx.x;
  sums[t] = in[t]; // @
  __syncthreads();
  for (int step = 1; step < B; step *= 2) {{
    T left = t >= step ? sums[t - step] : T(0); // @
    {barrier(first)}
    sums[t] += left; // @
    {barrier(second)}
  }}
  out[blockIdx.x * B + t] = sums[t];
""", types=("int", "float", "double"), shapes=((256, 2), (1024, 1), (130, 1)))


def lds_stencil():
    """A tile with halo: wave boundaries are crossed at both sides."""
    for bug in ("", "no-barrier"):
        yield Variant("lds-stencil", bug, f"""
  __shared__ T tile[B + 2];
  int t = threadIdx.x;
  tile[t + 1] = in[t + 1]; // @
  if (t == 0)
    tile[0] = in[0]; // @
  if (t == B - 1)
    tile[B + 1] = in[B + 1]; // @
  {barrier(not bug)}
  out[blockIdx.x * B + t] = T(tile[t] + tile[t + 1] + tile[t + 2]); // @
""", types=("int", "float", "double", "short", "signed char"))
    # A halo that is one too wide is written by two waves.
    yield Variant("lds-stencil", "halo-too-wide", """
  __shared__ T tile[B + 2];
  int t = threadIdx.x;
  tile[t] = in[t]; // @
  if (t == 0)
    tile[B - 1] = in[B]; // @
  __syncthreads();
  out[blockIdx.x * B + t] = tile[t];
""", types=("int", "float", "double", "short", "signed char"))


def lds_transpose():
    for bug in ("", "no-barrier"):
        yield Variant("lds-transpose", bug, f"""
  __shared__ T tile[16][17];
  int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[y * 16 + x]; // @
  {barrier(not bug)}
  out[blockIdx.x * 256 + y * 16 + x] = tile[x][y]; // @
""", shapes=((256, 1), (256, 3)), block=(16, 16))


def lds_one_writer():
    for bug, who in (("", "t == 0"), ("several-waves-write", "t % 64 == 0")):
        yield Variant("lds-one-writer", bug, f"""
  __shared__ T value;
  int t = threadIdx.x;
  if ({who})
    value = in[t]; // @
  __syncthreads();
  out[blockIdx.x * B + t] = value;
""")


def lds_called():
    """The same, with the accesses and the barrier in device functions that are not inlined by the optimiser alone."""
    for bug in ("", "no-barrier"):
        yield Variant("lds-called", bug, f"""
  __shared__ T tile[B];
  int t = threadIdx.x;
  K_put(tile, t, in[t]);
  {barrier(not bug)}
  out[blockIdx.x * B + t] = K_get(tile, B - 1 - t);
""", globals="""
__device__ __attribute__((noinline)) void K_put(T *tile, int at, T value) {
  tile[at] = value; // @
}
__device__ __attribute__((noinline)) T K_get(T *tile, int at) {
  return tile[at]; // @
}
""")


def lds_atomics():
    for bug, update in (("", "atomicAdd(&bins[value % 16], T(1));"), ("plain-update", "bins[value % 16] += 1;")):
        yield Variant("lds-histogram", bug, f"""
  __shared__ T bins[16];
  int t = threadIdx.x;
  if (t < 16)
    bins[t] = 0;
  __syncthreads();
  unsigned value = unsigned(t) * 7;
  {update} // @
  __syncthreads();
  if (t < 16)
    out[blockIdx.x * 16 + t] = bins[t];
""", types=COUNTERS, also=("lane-conflict",))
    for bug in ("", "no-barrier-before-read"):
        yield Variant("lds-atomic-then-read", bug, f"""
  __shared__ T sum;
  int t = threadIdx.x;
  if (t == 0)
    sum = 0;
  __syncthreads();
  atomicAdd(&sum, T(t)); // @
  {barrier(not bug)}
  out[blockIdx.x * B + t] = sum; // @
""", types=COUNTERS)
    for bug in ("", "no-barrier-after-clear"):
        yield Variant("lds-clear-then-atomic", bug, f"""
  __shared__ T sum;
  int t = threadIdx.x;
  if (t == B - 1)
    sum = 0; // @
  {barrier(not bug)}
  atomicAdd(&sum, T(t)); // @
  __syncthreads();
  out[blockIdx.x * B + t] = sum;
""", types=COUNTERS)


def lds_bare_barrier():
    for bug, how in (("", "__syncthreads();"), ("s-barrier-without-fence", "__builtin_amdgcn_s_barrier();")):
        yield Variant("lds-bare-barrier", bug, f"""
  __shared__ T tile[B];
  int t = threadIdx.x;
  tile[t] = in[t]; // @
  {how}
  out[blockIdx.x * B + t] = tile[B - 1 - t]; // @
""", kind="missing-fence", types=("int", "float", "double", "int4"))


def lds_wave_synchronous():
    """Exchange inside groups of 64 lanes: program order does it on wave64, and not on wave32."""
    yield Variant("lds-wave-synchronous", "needs-wave64", """
  __shared__ volatile T tile[B];
  int t = threadIdx.x;
  tile[t] = in[t]; // @
  out[blockIdx.x * B + t] = tile[t ^ 32]; // @
""", racy_on=("gfx1030",), types=("int", "float", "double", "short"), shapes=((128, 1), (256, 2), (1024, 1)))
    yield Variant("lds-wave-synchronous", "", """
  __shared__ volatile T tile[B];
  int t = threadIdx.x;
  tile[t] = in[t];
  out[blockIdx.x * B + t] = tile[t ^ 16];
""", types=("int", "float", "double", "short"), shapes=((128, 1), (256, 2), (1024, 1)))


def lds_flag():
    """A wave publishes through a flag in LDS."""
    for bug, order in (("", "__ATOMIC_RELEASE"), ("relaxed-flag", "__ATOMIC_RELAXED")):
        yield Variant("lds-flag", bug, f"""
  __shared__ T data[64];
  __shared__ unsigned ready;
  int t = threadIdx.x;
  if (t == 0)
    ready = 0;
  __syncthreads();
  if (t >= B - 64)
    data[t - (B - 64)] = in[t]; // @
  if (t == B - 1)
    __hip_atomic_store(&ready, 1u, {order}, __HIP_MEMORY_SCOPE_WORKGROUP);
  if (t < 32) {{
    while (__hip_atomic_load(&ready, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) == 0)
      __builtin_amdgcn_s_sleep(1);
    out[blockIdx.x * B + t] = data[t + 32]; // @
  }}
""", types=("int", "float", "double"), shapes=((128, 1), (256, 2), (1024, 1)))


def global_exchange():
    for bug in ("", "no-barrier"):
        yield Variant("global-exchange", bug, f"""
  int t = threadIdx.x, base = blockIdx.x * B;
  scratch[base + t] = in[t]; // @
  {barrier(not bug)}
  out[base + t] = scratch[base + B - 1 - t]; // @
""")


def global_between_workgroups():
    shapes = ((128, 2), (64, 4), (256, 3))
    for bug, index in (("", "blockIdx.x * B + t"), ("same-elements", "t")):
        yield Variant("global-elements-per-workgroup", bug, f"""
  int t = threadIdx.x;
  scratch[{index}] = T(in[t]); // @
""", shapes=shapes)
    for bug, read in (("", "blockIdx.x"), ("neighbour-workgroup", "(blockIdx.x + 1) % G")):
        yield Variant("global-neighbour-workgroup", bug, f"""
  int t = threadIdx.x;
  scratch[blockIdx.x * B + t] = in[t]; // @
  out[blockIdx.x * B + t] = scratch[({read}) * B + t]; // @
""", shapes=shapes)
    for bug, overlap in (("", 0), ("one-element-overlap", 1)):
        yield Variant("global-ranges", bug, f"""
  int t = threadIdx.x;
  scratch[blockIdx.x * B + t] = in[t]; // @
  if (t == 0 && {overlap})
    scratch[((blockIdx.x + 1) % G) * B] = in[0]; // @
""", shapes=shapes)


def global_counters():
    shapes = ((64, 4), (256, 2))
    for bug, update in (("", "atomicAdd(&scratch[0], T(1));"), ("plain-update", "scratch[0] += T(1);")):
        yield Variant("global-counter", bug, f"""
  {update} // @
""", types=COUNTERS + ("float",), shapes=shapes, also=("lane-conflict",))
    for bug, read in (("", "__hip_atomic_load(&scratch[0], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)"), ("plain-read", "scratch[0]")):
        yield Variant("global-counter-read", bug, f"""
  atomicAdd(&scratch[0], T(1)); // @
  out[blockIdx.x * B + threadIdx.x] = {read}; // @
""", types=COUNTERS, shapes=shapes)
    for bug, scope in (("", "AGENT"), ("workgroup-scope", "WORKGROUP")):
        yield Variant("global-counter-scope", bug, f"""
  __hip_atomic_fetch_add(&scratch[0], T(1), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_{scope}); // @
""", types=COUNTERS, shapes=shapes, kind="scope-too-small")


def global_last_workgroup():
    """The last workgroup to take a ticket sums what all have stored."""
    for bug, before, after in (("", "__threadfence();", "__threadfence();"), ("no-fence-before", "", "__threadfence();"),
                               ("no-fence-after", "__threadfence();", "")):
        yield Variant("global-last-workgroup", bug, f"""
  if (threadIdx.x == 0) {{
    scratch[blockIdx.x] = in[blockIdx.x]; // @
    {before}
    bool last = __hip_atomic_fetch_add(flags, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == G - 1;
    if (last) {{
      {after}
      for (int i = 0; i < G; ++i)
        out[i] = scratch[i]; // @
    }}
  }}
""", shapes=((64, 4), (128, 2), (256, 3)))


def global_flag():
    """Workgroup 0 publishes, the others wait for its flag."""
    wait = "while (__hip_atomic_load(flags, {0}, __HIP_MEMORY_SCOPE_{1}) == 0)\n      __builtin_amdgcn_s_sleep(1);"
    for bug, kind, release, acquire, scope in (("", "race", "RELEASE", "ACQUIRE", "AGENT"),
                                               ("relaxed-store", "race", "RELAXED", "ACQUIRE", "AGENT"),
                                               ("relaxed-load", "race", "RELEASE", "RELAXED", "AGENT")):
        yield Variant("global-flag", bug, f"""
  int t = threadIdx.x;
  if (t != 0)
    return;
  if (blockIdx.x == 0) {{
    scratch[0] = in[0]; // @
    __hip_atomic_store(flags, 1u, __ATOMIC_{release}, __HIP_MEMORY_SCOPE_{scope});
  }} else {{
    {wait.format("__ATOMIC_" + acquire, scope)}
    out[blockIdx.x] = scratch[0]; // @
  }}
""", shapes=((64, 2), (128, 3)), kind=kind)


def global_lock():
    for bug, lock_order, unlock_order in (("", "ACQUIRE", "RELEASE"), ("relaxed-unlock", "ACQUIRE", "RELAXED"),
                                          ("relaxed-lock", "RELAXED", "RELEASE")):
        yield Variant("global-lock", bug, f"""
  if (threadIdx.x != 0)
    return;
  unsigned expected = 0;
  while (!__hip_atomic_compare_exchange_strong(flags, &expected, 1u, __ATOMIC_{lock_order}, __ATOMIC_RELAXED,
                                               __HIP_MEMORY_SCOPE_AGENT)) {{
    expected = 0;
    __builtin_amdgcn_s_sleep(1);
  }}
  scratch[0] += in[blockIdx.x]; // @
  __hip_atomic_store(flags, 0u, __ATOMIC_{unlock_order}, __HIP_MEMORY_SCOPE_AGENT);
""", types=("int", "float", "double", "long long"), shapes=((64, 3), (128, 4)))


def global_tree():
    """Two children of a node: the second to arrive combines (bits of an atomic or)."""
    for bug, order in (("", "ACQ_REL"), ("relaxed", "RELAXED")):
        yield Variant("global-tree", bug, f"""
  if (threadIdx.x != 0)
    return;
  scratch[blockIdx.x] = in[blockIdx.x]; // @
  unsigned mine = 1u << (blockIdx.x & 1);
  unsigned before = __hip_atomic_fetch_or(&flags[blockIdx.x / 2], mine, __ATOMIC_{order}, __HIP_MEMORY_SCOPE_AGENT);
  if (before != 0)
    out[blockIdx.x / 2] = scratch[blockIdx.x ^ 1]; // @
""", shapes=((64, 2), (64, 4), (128, 6)))


def divergence():
    for bug, condition in (("", "in != nullptr"), ("barrier-in-branch", "t < B / 2")):
        yield Variant("barrier-in-branch", bug, f"""
  __shared__ T tile[B];
  int t = threadIdx.x;
  tile[t] = in[t];
  if ({condition})
    __syncthreads(); // @
  else
    __syncthreads(); // @
  out[blockIdx.x * B + t] = tile[t];
""", types=("int", "double"), shapes=((128, 1), (256, 2), (1024, 1)), kind="barrier-divergence")
    for bug, condition in (("", "out == nullptr"), ("some-leave", "t >= 64")):
        yield Variant("early-exit", bug, f"""
  __shared__ T tile[B];
  int t = threadIdx.x;
  if ({condition}) // @
    return; // @
  tile[t] = in[t];
  __syncthreads(); // @
  out[blockIdx.x * B + t] = tile[t];
""", types=("int", "double"), shapes=((128, 1), (256, 2), (1024, 1)), kind="early-exit")


def lds_ring():
    """Wave 0 fills a ring of three slots, the others read the slot of the pass before; one barrier a pass is enough."""
    for bug, slot in (("", "(pass + 2) % 3"), ("slot-being-filled", "pass % 3")):
        yield Variant("lds-ring", bug, f"""
  __shared__ T ring[3][64];
  int t = threadIdx.x;
  if (t < 64)
    ring[2][t] = in[t];
  __syncthreads();
  for (int pass = 0; pass < 6; ++pass) {{
    if (t < 64)
      ring[pass % 3][t] = in[pass * 64 + t]; // @
    else
      out[(blockIdx.x * 6 + pass) * B + t] = ring[{slot}][t % 64]; // @
    __syncthreads();
  }}
""")


def lds_phases():
    """Odd-even exchange: neighbours in pairs that alternate, so that a barrier is needed between the phases."""
    for bug, synchronise in (("", 1), ("no-barrier-between-phases", 0)):
        yield Variant("lds-odd-even", bug, f"""
  __shared__ T values[B];
  int t = threadIdx.x;
  values[t] = in[t]; // @
  __syncthreads();
  for (int phase = 0; phase < 4; ++phase) {{
    int left = 2 * t + (phase & 1);
    if (left + 1 < B) {{
      T a = values[left], b = values[left + 1]; // @
      values[left] = a < b ? a : b; // @
      values[left + 1] = a < b ? b : a; // @
    }}
    {barrier(synchronise)}
  }}
  __syncthreads();
  out[blockIdx.x * B + t] = values[t];
""", types=("int", "float", "double", "short", "signed char"), shapes=((256, 2), (1024, 1), (192, 3)))


def lds_permuted():
    """Indices that only the data knows: a permutation is clean, one value twice is not."""
    for bug, index in (("", "(t * 7 + 3) % B"), ("two-lanes-one-element", "t == B - 1 ? 3 : (t * 7 + 3) % B")):
        yield Variant("lds-scatter", bug, f"""
  __shared__ T tile[B];
  __shared__ int where[B];
  int t = threadIdx.x;
  where[t] = {index};
  __syncthreads();
  tile[where[t]] = in[t]; // @
  __syncthreads();
  out[blockIdx.x * B + t] = tile[t];
""", shapes=((128, 1), (256, 2), (1024, 1), (130, 1)))


def lds_bytes():
    """Neighbouring bytes of one word belong to different waves; 16-bit accesses overlap them."""
    for bug, write in (("", "*mine = 1;"), ("wider-than-its-element", "*(volatile short *)(bytes + 2 * lane) = 1;")):
        yield Variant("lds-bytes", bug, f"""
  __shared__ alignas(16) signed char bytes[B + 64];
  int t = threadIdx.x;
  int wave = t / 64, lane = t % 64;
  signed char *mine = bytes + 2 * lane + (wave & 1);
  if (wave < 2) {{
    {write} // @
  }}
  __syncthreads();
  out[blockIdx.x * B + t] = T(bytes[t]);
""", types=("int", "float"), shapes=((128, 1), (256, 2), (1024, 1)))


def lds_selected():
    """A generic pointer into LDS or global memory, chosen at run time."""
    for bug in ("", "no-barrier"):
        yield Variant("lds-generic-pointer", bug, f"""
  __shared__ T tile[B];
  int t = threadIdx.x;
  T *where = in != nullptr ? tile : scratch + blockIdx.x * B;
  where[t] = in[t]; // @
  {barrier(not bug)}
  out[blockIdx.x * B + t] = where[B - 1 - t]; // @
""")


def lds_copy():
    """memcpy and structures. Not with 1024 work-items: the compiler moves `local` to LDS, too, and fills it."""
    for bug in ("", "no-barrier"):
        yield Variant("lds-memcpy", bug, f"""
  __shared__ T tile[4 * B];
  int t = threadIdx.x;
  T local[4] = {{in[t], in[t + 1], in[t + 2], in[t + 3]}};
  __builtin_memcpy(&tile[4 * t], local, sizeof(local)); // @
  {barrier(not bug)}
  __builtin_memcpy(local, &tile[4 * (B - 1 - t)], sizeof(local)); // @
  out[blockIdx.x * B + t] = local[t & 3]; // @ (the optimiser may load the one element only)
""", types=("int", "float", "double", "short", "signed char"), shapes=((128, 1), (256, 2), (192, 3), (130, 1)))


def lds_uniform_control():
    """Barriers in a loop that all work-items leave together, by a value that came through LDS."""
    for bug, synchronise in (("", 1), ("no-barrier-before-test", 0)):
        yield Variant("lds-uniform-loop", bug, f"""
  __shared__ int rounds;
  __shared__ T tile[B];
  int t = threadIdx.x;
  if (t == 0)
    rounds = 0;
  __syncthreads();
  for (int pass = 0; pass < 3; ++pass) {{
    tile[t] = in[pass * B + t];
    if (t == B - 1)
      rounds = pass; // @
    {barrier(synchronise)}
    out[(blockIdx.x * 3 + pass) * B + t] = T(rounds); // @
    __syncthreads();
    out[(blockIdx.x * 3 + pass) * B + t] = tile[B - 1 - t];
    __syncthreads();
  }}
""", types=("int", "float", "double"))


def lds_wave_roles():
    """Waves with different work between the same barriers."""
    early = "else if (t < 128)\n    out[blockIdx.x * B + t] = produced[t - 64]; // @"
    for bug, extra in (("", ""), ("reads-too-early", early)):
        yield Variant("lds-wave-roles", bug, f"""
  __shared__ T produced[64], consumed[64];
  int t = threadIdx.x;
  if (t < 64)
    produced[t] = in[t]; // @
  {extra}
  __syncthreads();
  if (t >= 64 && t < 128)
    consumed[t - 64] = produced[t - 64];
  __syncthreads();
  if (t < 64)
    out[blockIdx.x * B + t] = consumed[t];
""", shapes=((128, 1), (256, 2), (1024, 1)))


def lds_exchange_atomic():
    for bug, how in (("", "atomicExch(&slot, unsigned(t))"), ("plain-store", "slot = unsigned(t)")):
        yield Variant("lds-exchange", bug, f"""
  __shared__ unsigned slot;
  int t = threadIdx.x;
  if (t == 0)
    slot = 0;
  __syncthreads();
  if (t % 64 == 0)
    {how}; // @
  __syncthreads();
  out[blockIdx.x * B + t] = T(slot);
""", types=("int", "unsigned"))


def global_compare_exchange():
    """A loop of compare and exchange is one update; a plain read-modify-write in its place is none."""
    for bug, update in (("", """unsigned old = __hip_atomic_load(flags, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  while (!__hip_atomic_compare_exchange_weak(flags, &old, old * 3 + 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                             __HIP_MEMORY_SCOPE_AGENT)) // @
    ;"""), ("plain-update", "*flags = *flags * 3 + 1; // @")):
        yield Variant("global-compare-exchange", bug, f"""
  if (threadIdx.x % 64 != 0)
    return;
  {update}
""", types=("int",), shapes=((64, 4), (256, 2), (128, 3)))


def global_ticket_order():
    """Workgroups take turns: each waits for its ticket, then hands on."""
    for bug, order in (("", "RELEASE"), ("relaxed-hand-over", "RELAXED")):
        yield Variant("global-turns", bug, f"""
  if (threadIdx.x != 0)
    return;
  while (__hip_atomic_load(flags, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) != blockIdx.x)
    __builtin_amdgcn_s_sleep(1);
  scratch[0] = T(scratch[0] + in[blockIdx.x]); // @
  __hip_atomic_store(flags, blockIdx.x + 1, __ATOMIC_{order}, __HIP_MEMORY_SCOPE_AGENT);
""", types=("int", "float", "double", "short"), shapes=((64, 3), (128, 4)))


def global_variable():
    """A __device__ variable that one workgroup writes, others read."""
    for bug, condition in (("", "blockIdx.x == G"), ("one-workgroup-writes", "blockIdx.x == 0")):
        yield Variant("global-variable", bug, f"""
  if ({condition} && threadIdx.x == 0)
    K_variable = in[0]; // @
  out[blockIdx.x * B + threadIdx.x] = K_variable; // @
""", globals="__device__ T K_variable;\n", types=("int", "float", "double", "signed char"), shapes=((64, 3), (128, 4)))


PATTERNS = (lds_exchange, lds_exchange_dynamic, lds_broadcast, lds_loop, lds_double_buffer, lds_reduction, lds_scan, lds_stencil,
            lds_transpose, lds_one_writer, lds_called, lds_atomics, lds_bare_barrier, lds_wave_synchronous, lds_flag, lds_ring, lds_phases,
            lds_permuted, lds_bytes, lds_selected, lds_copy, lds_uniform_control, lds_wave_roles, lds_exchange_atomic, global_exchange,
            global_between_workgroups, global_counters, global_last_workgroup, global_flag, global_lock, global_tree,
            global_compare_exchange, global_ticket_order, global_variable, divergence)

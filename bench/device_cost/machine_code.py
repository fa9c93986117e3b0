# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads what clang -S prints for amdgcn: instructions by function, resources by kernel."""
import dataclasses
import re

TARGETS = "gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1151 gfx1201 gfx1250".split()
TWIN = ".wavesan"
CHECK = "__wavesan_check"

_FUNCTION = re.compile(r"^([^\s.][^\s:]*):\s*; @.*?\n(.*?)^\.Lfunc_end\d+:", re.S | re.M)
_INSTRUCTION = re.compile(r"^\s+((?:s|v|ds|global|flat|buffer|scratch|tbuffer|image|exp|cluster|tensor)_\w+)", re.M)


@dataclasses.dataclass
class Kernel:
    """One kernel's resources as the code object states them, and its own instructions (not those of functions)."""

    name: str
    vgprs: int  # with accumulation registers where a target has them
    sgprs: int
    lds: int  # bytes
    scratch: int  # bytes of a lane
    spills: int  # registers of either kind
    mnemonics: list

    @property
    def instructions(self):
        return len(self.mnemonics)


def allowed_scratch(assembly):
    """Bytes of scratch of a twin. Targets with waves of 64 whose scratch needs a buffer descriptor have four scalar registers less: the
    check of global memory saves its return address there."""
    return 16 if re.search(r"amdgcn-amd-amdhsa-{1,2}gfx9(08|0a)", assembly) else 0


def is_call(mnemonic):
    return mnemonic in ("s_swappc_b64", "s_swap_pc_i64", "s_call_b64", "s_call_i64")


def functions(assembly):
    """Mnemonics by function name."""
    return {name: _INSTRUCTION.findall(body) for name, body in _FUNCTION.findall(assembly)}


def kernels(assembly):
    """Kernel by name. Raises ValueError if the metadata lacks a field: a test must not pass without looking."""
    code = functions(assembly)
    begin = assembly.find(".amdgpu_metadata")
    if begin < 0:
        raise ValueError("no kernel metadata in the assembly")
    found = {}
    for entry in re.split(r"^  - (?=\.)", assembly[begin:], flags=re.M)[1:]:
        fields = dict(re.findall(r"^\s*\.(\w+):\s+(\S+)", entry, re.M))
        if "symbol" not in fields:
            continue
        name = fields["symbol"].strip("'\"").removesuffix(".kd")
        number = lambda key: int(fields[key])
        found[name] = Kernel(
            name=name,
            vgprs=number("vgpr_count"),
            sgprs=number("sgpr_count"),
            lds=number("group_segment_fixed_size"),
            scratch=number("private_segment_fixed_size"),
            spills=number("vgpr_spill_count") + number("sgpr_spill_count"),
            mnemonics=code[name],
        )
    if not found:
        raise ValueError("no kernels in the assembly")
    return found

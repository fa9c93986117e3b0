// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One text for all generations: {NAME} is replaced by the generation's mnemonic, {VM n} and friends by its wait instruction.
#ifndef WAVESAN_TEST_WAITCHECK_MNEMONICS_H
#define WAVESAN_TEST_WAITCHECK_MNEMONICS_H

#include "Generations.h"

#include <string>

namespace wavesan::waitcheck::test {

inline std::string mnemonic(const std::string &target, const std::string &name, const std::string &argument) {
  const Generation &g = *findTarget(target)->generation;
  const bool newNames = g.encoding == WaitEncoding::Gfx11 || g.encoding == WaitEncoding::Gfx12;
  const bool split = g.encoding == WaitEncoding::Gfx12;
  struct Row {
    const char *name, *older, *newer;
  };
  static constexpr Row rows[] = {
      {"LD", "global_load_dword", "global_load_b32"},
      {"LD2", "global_load_dwordx2", "global_load_b64"},
      {"LD4", "global_load_dwordx4", "global_load_b128"},
      {"LDLO", "global_load_short_d16", "global_load_d16_b16"},
      {"LDHI", "global_load_short_d16_hi", "global_load_d16_hi_b16"},
      {"ST", "global_store_dword", "global_store_b32"},
      {"STLO", "global_store_short", "global_store_b16"},
      {"STHI", "global_store_short_d16_hi", "global_store_d16_hi_b16"},
      {"FLD", "flat_load_dword", "flat_load_b32"},
      {"FST", "flat_store_dword", "flat_store_b32"},
      {"BLD", "buffer_load_dword", "buffer_load_b32"},
      {"DSR", "ds_read_b32", "ds_load_b32"},
      {"DSR2", "ds_read_b64", "ds_load_b64"},
      {"DSW", "ds_write_b32", "ds_store_b32"},
      {"SL", "s_load_dword", "s_load_b32"},
      {"SL2", "s_load_dwordx2", "s_load_b64"},
      {"SL4", "s_load_dwordx4", "s_load_b128"},
  };
  for (const Row &r : rows)
    if (name == r.name)
      return newNames ? r.newer : r.older;
  if (name == "ATOM") { // {ATOM v1, v2, s[4:5]}: returns into v8
    if (split)
      return "global_atomic_add_u32 v8, " + argument + " th:TH_ATOMIC_RETURN";
    return (newNames ? "global_atomic_add_u32 v8, " : "global_atomic_add v8, ") + argument +
           ((target == "gfx942" || target == "gfx950") ? " sc0" : " glc");
  }
  if (name == "VM")
    return split ? "s_wait_loadcnt " + argument : "s_waitcnt vmcnt(" + argument + ")";
  if (name == "LG")
    return split ? "s_wait_dscnt " + argument : "s_waitcnt lgkmcnt(" + argument + ")";
  if (name == "KM")
    return split ? "s_wait_kmcnt " + argument : "s_waitcnt lgkmcnt(" + argument + ")";
  if (name == "EXP")
    return split ? "s_wait_expcnt " + argument : "s_waitcnt expcnt(" + argument + ")";
  if (name == "BAR")
    return split ? "s_barrier_signal -1\n  s_barrier_wait -1" : "s_barrier";
  if (name == "ADD") // vector add without carry
    return g.encoding == WaitEncoding::Gfx9 ? "v_add_u32_e32" : "v_add_nc_u32_e32";
  if (name == "SADD")
    return split ? "s_add_co_u32" : "s_add_u32";
  return "<no mnemonic " + name + ">";
}

inline std::string expand(const std::string &target, const std::string &text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '{') {
      out += text[i++];
      continue;
    }
    const size_t end = text.find('}', i);
    const std::string inside = text.substr(i + 1, end - i - 1);
    const size_t space = inside.find(' ');
    out += mnemonic(target, inside.substr(0, space), space == std::string::npos ? "" : inside.substr(space + 1));
    i = end + 1;
  }
  return out;
}

} // namespace wavesan::waitcheck::test

#endif // WAVESAN_TEST_WAITCHECK_MNEMONICS_H

// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The member `confirmation` of a race, the same in all formats that are JSON (docs/report-schema.md).
#ifndef WAVESAN_REPORT_CONFIRMATION_JSON_H
#define WAVESAN_REPORT_CONFIRMATION_JSON_H

#include "wavesan/report/race.h"

#include <nlohmann/json.hpp>

namespace wavesan::report {

nlohmann::ordered_json confirmationJson(const Confirmation &confirmation);

} // namespace wavesan::report

#endif // WAVESAN_REPORT_CONFIRMATION_JSON_H

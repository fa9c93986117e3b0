#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the verdict of each race of a JSON or SARIF report, by dispatch, and how many messages speak of verdicts.

    list_verdicts.py REPORT
"""
import json
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        report = json.load(f)
    if "runs" in report:
        run = report["runs"][0]
        races = [result["properties"] for result in run["results"]]
        messages = [note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"]]
    else:
        races, messages = report["races"], report["messages"]
    for number, race in enumerate(races, 1):
        verdict = race["confirmation"]
        line = f"{number}: {verdict['verdict']} "
        if verdict["verdict"] == "not-tried":
            line += verdict["reason"]
        else:
            line += f"{verdict['passes']} passes, seed {verdict['seed']}"
        if "place" in verdict:
            line += f", {verdict['place']['kind']} + {verdict['place']['offset']}"
        print(line)
    print("messages about verdicts:", sum("confirm" in m or "observed" in m for m in messages))


if __name__ == "__main__":
    main()

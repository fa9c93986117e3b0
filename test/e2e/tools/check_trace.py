#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the three traces of one run against one another and against what every trace must fulfil.

    check_trace.py PREFIX [EXPECTATION...]

EXPECTATION: "FUNCTION=STATE,STATE,..." names the states of that function's waits in their order, "FUNCTION@N,N,..." which records of their events
they wait for, "FUNCTION#N" the number of its calls, "cross" that every wait for an event waits for another stream.

The Perfetto file is read by a decoder of the protobuf wire format that shares nothing with the writer; field numbers are those of
Perfetto's own .proto files.
"""
import csv
import json
import struct
import sys

COLUMNS = ["Domain", "Function", "Process_Id", "Thread_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp",
           "Stream_Id", "Wait_On_Stream_Id", "Wait_On_Correlation_Id"]
EVENT_WAITS = {"hipStreamWaitEvent", "hipStreamWaitEvent_spt", "hipEventSynchronize"}
RECORDS = {"hipEventRecord", "hipEventRecord_spt", "hipEventRecordWithFlags"}
SLICE_BEGIN, SLICE_END, INSTANT = 1, 2, 3
problems = []


def expect(condition, text):
    if not condition:
        problems.append(text)


# Protocol Buffers.


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def decode(data):
    """{field number: [values]}; messages and strings are bytes."""
    fields, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif kind == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            assert len(value) == length, "truncated"
        else:
            raise AssertionError(f"wire type {kind}")
        fields.setdefault(number, []).append(value)
    return fields


def read_perfetto(path):
    """Tracks (uuid: descriptor) and track events, in the order of time as a reader sorts them."""
    with open(path, "rb") as f:
        trace = decode(f.read())
    expect(set(trace) == {1}, "perfetto: something else than packets")
    tracks, events = {}, []
    for packet in map(decode, trace[1]):
        expect(packet.get(10, [0])[0] != 0, "perfetto: a packet without sequence")
        if 60 in packet:
            descriptor = decode(packet[60][0])
            tracks[descriptor[1][0]] = descriptor
        if 11 in packet:
            events.append((packet[8][0], decode(packet[11][0])))
    events.sort(key=lambda e: e[0])
    return tracks, events


def annotations(event):
    out = {}
    for a in map(decode, event.get(4, [])):
        out[a[10][0].decode()] = a[3][0] if 3 in a else a[4][0] if 4 in a else a[6][0].decode()
    return out


def check_perfetto(path, calls):
    tracks, events = read_perfetto(path)
    by_id = {c["correlation_id"]: c for c in calls}
    open_slices, thread_slices, begun, ended = {}, {}, {}, {}
    for time, event in events:
        track = event[11][0]
        expect(track in tracks, f"perfetto: an event on track {track}, which is not described")
        if event[9][0] == SLICE_BEGIN:
            expect(track not in open_slices, "perfetto: overlapping slices in a track")
            open_slices[track] = time
            seen = annotations(event)
            call = by_id.get(seen["correlation_id"])
            expect(call and call["begin"] == time and call["function"] == event[23][0].decode(), f"perfetto: {seen} is no such call")
            if 4 in tracks[track]:  # a thread's
                thread_slices[seen["correlation_id"]] = track
                expect(seen.get("wait_on_corr_id", 0) == call["wait_on_correlation_id"], f"perfetto: {seen}")
                expect(seen.get("wait_on_stream_ID", 0) == call["wait_on_stream"]["handle"], f"perfetto: {seen}")
            else:
                expect(tracks[track][2][0].decode() == f"stream {call['stream_id']['handle']}", "perfetto: wrong stream track")
            for flow in event.get(48, []):
                ended[flow] = (time, seen["correlation_id"])
        elif event[9][0] == SLICE_END:
            expect(open_slices.pop(track, time + 1) <= time, "perfetto: a slice ends before it begins")
        else:
            expect(event[9][0] == INSTANT, "perfetto: unknown type")
            for flow in event.get(47, []):
                expect(flow not in begun, "perfetto: a flow begins twice")
                begun[flow] = (time, track)
    expect(not open_slices, "perfetto: slices without end")
    expect(len(thread_slices) == len(calls), f"perfetto: {len(thread_slices)} slices of {len(calls)} calls")
    expect(begun.keys() == ended.keys(), "perfetto: flows without begin or end")
    resolved = [c for c in calls if c.get("wait", {}).get("state") == "resolved"]
    expect(len(begun) == len(resolved), f"perfetto: {len(begun)} flows of {len(resolved)} resolved waits")
    for flow, (time, waiter) in ended.items():
        producer = by_id[by_id[waiter]["wait"]["correlation_id"]]
        expect(producer["begin"] <= begun[flow][0] <= producer["end"], "perfetto: an arrow begins outside of its producer")
        expect(begun[flow][1] == thread_slices[producer["correlation_id"]], "perfetto: an arrow begins in another track")
        expect(begun[flow][0] <= time, "perfetto: an arrow goes back in time")
    return len(begun)


def check_csv(path, calls):
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.reader(f))
    expect(rows[0] == COLUMNS, f"csv: columns {rows[0]}")
    rows = [dict(zip(rows[0], r)) for r in rows[1:]]
    expect(len(rows) == len(calls), f"csv: {len(rows)} rows, json: {len(calls)} calls")
    recorded, dependencies = {}, 0
    for row, call in zip(rows, calls):
        name, where = row["Function"], f"csv: {row}"
        pairs = [("Function", call["function"]), ("Domain", call["domain"]), ("Thread_Id", call["thread"]),
                 ("Correlation_Id", call["correlation_id"]), ("Start_Timestamp", call["begin"]), ("End_Timestamp", call["end"]),
                 ("Stream_Id", call["stream_id"]["handle"]), ("Wait_On_Stream_Id", call["wait_on_stream"]["handle"]),
                 ("Wait_On_Correlation_Id", call["wait_on_correlation_id"])]
        for column, value in pairs:
            expect(row[column] == str(value), f"{where}: json has {column} {value}")
        expect(int(row["Start_Timestamp"]) <= int(row["End_Timestamp"]), where)
        if name in RECORDS:
            recorded[row["Correlation_Id"]] = row
        if row["Wait_On_Correlation_Id"] == "0":
            expect(row["Wait_On_Stream_Id"] == "0", where)
            continue
        dependencies += 1
        expect(name in EVENT_WAITS, f"{where}: no such function waits for an event")
        producer = recorded.get(row["Wait_On_Correlation_Id"])
        expect(producer is not None, f"{where}: no earlier record has that id")
        if producer:
            expect(producer["Stream_Id"] == row["Wait_On_Stream_Id"], f"{where}: wrong stream")
    return rows, dependencies


def main():
    prefix = sys.argv[1]
    with open(prefix + ".json", encoding="utf-8") as f:
        document = json.load(f)
    expect(document["schema"] == "wavesan-trace" and document["schemaVersion"] == 1, "json: schema")
    calls = [r for r in document["records"] if r["kind"] == "call"]
    streams = {r["id"]: r for r in document["records"] if r["kind"] == "stream"}
    expect(document["summary"]["calls"] == len(calls), "json: number of calls")
    expect(document["summary"]["lost"] == document["summary"]["failures"] == 0, "json: something was lost")
    ids = [c["correlation_id"] for c in calls]
    expect(len(set(ids)) == len(ids) and 0 not in ids, "json: correlation ids are not unique")
    for c in calls:
        expect(c["stream_id"]["handle"] in streams or c["stream_id"]["handle"] == 0, f"json: unknown stream: {c}")
    rows, dependencies = check_csv(prefix + ".csv", calls)
    expect(dependencies == sum(c["wait_on_correlation_id"] != 0 for c in calls), "csv and json: number of dependencies")
    flows = check_perfetto(prefix + ".pftrace", calls)
    for expectation in sys.argv[2:]:
        if expectation == "cross":
            for row in rows:
                if row["Function"] in EVENT_WAITS:
                    expect(row["Wait_On_Correlation_Id"] != "0", f"no dependency: {row}")
                    expect(row["Wait_On_Stream_Id"] != row["Stream_Id"], f"the same stream: {row}")
        elif "@" in expectation:
            function, _, generations = expectation.partition("@")
            found = ",".join(str(c["wait"]["generation"]) for c in calls if c["function"] == function)
            expect(found == generations, f"{function}: waits for records {found}, not {generations}")
        elif "#" in expectation:
            function, _, number = expectation.partition("#")
            count = sum(c["function"] == function for c in calls)
            expect(count == int(number), f"{count} calls of {function}, not {number}")
        else:
            function, _, states = expectation.partition("=")
            found = ",".join(c["wait"]["state"] for c in calls if c["function"] == function and "wait" in c)
            expect(found == states, f"{function}: {found}, not {states}")
    print("\n".join(problems))
    print(f"trace: {len(calls)} calls, {len(streams)} streams, {dependencies} dependencies, {flows} arrows, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Validates reports: *.json against docs/report.schema.json, *.sarif against sarif_subset.schema.json, *.xml as JUnit.

    check_formats.py --schema=docs/report.schema.json FILE_OR_DIRECTORY...

Members that the schema does not name are errors here, although readers must accept them: the schema is the documentation.
"""
import argparse
import copy
import json
import pathlib
import sys
import xml.etree.ElementTree

try:
    import jsonschema
except ImportError:
    print("SKIPPED: python3-jsonschema is not installed")
    sys.exit(77)


def closed(schema):
    """The schema without room for further members."""
    schema = copy.deepcopy(schema)

    def walk(node):
        if isinstance(node, dict):
            if "properties" in node:
                node.setdefault("additionalProperties", False)
            for child in node.values():
                walk(child)
        elif isinstance(node, list):
            for child in node:
                walk(child)

    walk(schema)
    return schema


def problems_of_json(path, schema):
    validator = jsonschema.Draft202012Validator(schema)
    with open(path, encoding="utf-8") as f:
        document = json.load(f)
    for error in validator.iter_errors(document):
        yield f"/{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"


def problems_of_sarif(path, schema):
    yield from problems_of_json(path, schema)
    with open(path, encoding="utf-8") as f:
        for run in json.load(f)["runs"]:
            rules = run["tool"]["driver"]["rules"]
            bases = run.get("originalUriBaseIds", {})
            for name, base in bases.items():  # 3.14.14: a URI base ends with a slash
                if not base["uri"].endswith("/"):
                    yield f"URI base {name} does not end with a slash"
            for i, result in enumerate(run["results"]):
                if rules[result.get("ruleIndex", 0)]["id"] != result.get("ruleId"):
                    yield f"result {i}: ruleIndex and ruleId disagree"
                for location in result["locations"] + result.get("relatedLocations", []):
                    artifact = location.get("physicalLocation", {}).get("artifactLocation", {})
                    if "uriBaseId" in artifact and artifact["uriBaseId"] not in bases:
                        yield f"result {i}: unknown uriBaseId"


def problems_of_junit(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    suites = [root] if root.tag == "testsuite" else list(root)
    if root.tag != "testsuites" or not suites:
        yield f"root is <{root.tag}>"
    for suite in suites:
        cases = suite.findall("testcase")
        counts = {"tests": len(cases)}
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            counts[attribute] = sum(case.find(tag) is not None for case in cases)
        for attribute, n in counts.items():
            for element in (suite, root):
                if element.get(attribute) != str(n):
                    yield f"<{element.tag}> says {attribute}={element.get(attribute)}, there are {n}"
        for case in cases:
            if not case.get("name") or not case.get("classname"):
                yield "a test case without name or class"
        for child in suite:
            if child.tag not in ("testcase", "system-out", "system-err", "properties"):
                yield f"unknown element <{child.tag}>"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--schema", required=True)
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    schemas = {".json": json.load(open(args.schema, encoding="utf-8")),
               ".sarif": json.load(open(pathlib.Path(__file__).with_name("sarif_subset.schema.json"), encoding="utf-8"))}
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    schemas[".json"] = closed(schemas[".json"])

    files = [f for p in args.paths for f in (sorted(p.iterdir()) if p.is_dir() else [p])]
    failed = checked = 0
    for path in files:
        if path.suffix == ".json":
            problems = problems_of_json(path, schemas[".json"])
        elif path.suffix == ".sarif":
            problems = problems_of_sarif(path, schemas[".sarif"])
        elif path.suffix == ".xml":
            problems = problems_of_junit(path)
        else:
            print(f"{path}: unknown kind of report")
            return 2
        checked += 1
        bad = path.stem.startswith("bad-")  # made to be refused: the check must see it
        problems = list(problems)
        if bad != bool(problems):
            failed += 1
            print(f"{path}: " + ("accepted, but is wrong" if bad else "; ".join(problems)))
    print(f"{checked} reports checked, {failed} failed")
    return 1 if failed or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

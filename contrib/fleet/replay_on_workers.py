"""Replays the traces of a list on the workers of a Ray cluster, with `gapii-ctl check`.

    python contrib/fleet/replay_on_workers.py /shared/traces/traces.toml --address auto

The list is that of `gapii-ctl check`, and lies with its traces in a folder that every worker sees. Each task checks one trace, so
that a driver that crashes fails that trace alone. `gapii-ctl` must be on every worker, and the driver under test is the worker's
own. Prints a line for each trace that does not pass; the exit status is 0 if all pass, and 1 if not.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib

import ray


def entries(path):
    """Returns the text of each trace in a list, with the lines before the first one in front."""
    text = path.read_text()
    head, *parts = text.split("[[trace]]")
    whole = tomllib.loads(text)["trace"]
    if len(parts) != len(whole):
        sys.exit(f"{path}: `[[trace]]` stands elsewhere than at the beginning of an entry")
    return [(entry["path"], f"{head}[[trace]]{part}") for entry, part in zip(whole, parts)]


@ray.remote(max_retries=2)
def check(folder, name, text, tool, limit_s):
    """Checks one trace, and returns its entry in the answer of `gapii-ctl check --json`."""
    # The list has paths relative to itself.
    with tempfile.NamedTemporaryFile("w", suffix=".toml", dir=folder, prefix=".check-") as part:
        part.write(text)
        part.flush()
        command = [tool, "check", part.name, "--json", "--jobs", "1", "--time", f"{limit_s}s"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * limit_s)
    try:
        [answer] = json.loads(done.stdout)["traces"]
    except ValueError:
        answer = {"trace": name, "verdict": "unplayable", "frames": [], "error": done.stderr.strip()}
    return {**answer, "worker": ray.util.get_node_ip_address(), "pid": os.getpid()}


def sentence(answer):
    """Returns why a trace does not pass."""
    frames = [it for it in answer["frames"] if it["expected"] != it["drawn"]]
    what = ", ".join(f"frame {it['frame']} is {it['drawn']}, expected {it['expected']}" for it in frames)
    return what or answer["error"] or answer["verdict"]


def main():
    parser = argparse.ArgumentParser(description="Replay traces on the workers of a Ray cluster")
    parser.add_argument("list", type=pathlib.Path, help="list of traces, as of gapii-ctl check")
    parser.add_argument("--address", help="address of the cluster, or auto; without it a cluster on this machine")
    parser.add_argument("--workers", type=int, help="workers of a cluster on this machine; by default one for each processor")
    parser.add_argument("--tool", default="gapii-ctl", help="the control tool, as the workers find it")
    parser.add_argument("--time", type=int, default=600, help="seconds that the replay of a trace may take")
    parser.add_argument("--json", action="store_true", help="print one document with all traces")
    options = parser.parse_args()
    if options.address:
        ray.init(address=options.address, log_to_driver=False)
    else:
        ray.init(num_cpus=options.workers, include_dashboard=False, log_to_driver=False)
    folder = str(options.list.resolve().parent)
    tasks = [check.remote(folder, name, text, options.tool, options.time) for name, text in entries(options.list)]
    answers = []
    while tasks:
        done, tasks = ray.wait(tasks)
        for answer in ray.get(done):
            answers.append(answer)
            if answer["verdict"] != "pass":
                print(f"{answer['trace']}: {answer['verdict']}: {sentence(answer)}", file=sys.stderr)
    answers.sort(key=lambda answer: answer["trace"])
    failed = sum(answer["verdict"] != "pass" for answer in answers)
    if options.json:
        print(json.dumps({"traces": answers, "passed": len(answers) - failed, "failed": failed}))
    else:
        print(f"{len(answers) - failed} of {len(answers)} traces passed")
    ray.shutdown()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

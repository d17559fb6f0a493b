"""Asks the server for agents about traces, with the client of the package `mcp`, and compares the answers with what the
control tool prints. Arguments: the control tool, and a folder with the traces one.gapii and other.gapii."""

import asyncio
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

TOOL, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
ONE, OTHER = FOLDER / "one.gapii", FOLDER / "other.gapii"
BYTES_MAX = 48 * 1024


def printed(*words):
    """What the control tool prints; a difference of traces is no failure."""
    answered = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True)
    assert answered.returncode in (0, 1), answered.stderr
    return answered.stdout.rstrip()


def last_draw():
    """Number of the last command of the second frame that draws."""
    lines = printed("dump", ONE, "--frames", "1", "--function", "glDraw*", "--json").splitlines()
    return json.loads(lines[-1])["seq"]


def picture(seq):
    with tempfile.TemporaryDirectory() as folder:
        printed("replay", f"--images={folder}", f"--at={seq}", ONE)
        files = sorted(pathlib.Path(folder).glob("*.png"))
        return [file.read_bytes() for file in files]


async def ask(session, name, **arguments):
    """The texts and pictures of an answer."""
    answer = await session.call_tool(name, arguments)
    assert not answer.is_error, answer
    texts = [part.text for part in answer.content if part.type == "text"]
    pictures = [base64.b64decode(part.data) for part in answer.content if part.type == "image"]
    assert sum(map(len, texts)) < BYTES_MAX + 1000, f"{name}: {sum(map(len, texts))}"
    return texts, pictures


async def refused(session, name, **arguments):
    """The sentence of a refusal."""
    answer = await session.call_tool(name, arguments)
    assert answer.is_error, answer
    return answer.content[0].text


async def check_reading(session):
    """Asks about the two traces."""
    tools = {tool.name for tool in (await session.list_tools()).tools}
    assert "picture" in tools and "record" not in tools, tools
    draw = last_draw()
    questions = [
        ("info", {"trace": "one.gapii"}, ["info", "--json", ONE]),
        ("frames", {"trace": "one.gapii", "sort": "duration", "top": 3},
         ["frames", "--json", "--sort=duration", "--top=3", ONE]),
        ("commands", {"trace": "one.gapii", "frames": "2", "top": 5},
         ["dump", "--json", "--frames=2", "--top=5", ONE]),
        ("search", {"trace": "one.gapii", "text": "GL_TRIANGLES", "top": 2},
         ["dump", "--json", "--match=GL_TRIANGLES", "--top=2", ONE]),
        ("state", {"trace": "one.gapii", "at": draw, "section": "context.viewport"},
         ["state", "--json", f"--at={draw}", "--section=context.viewport", ONE]),
        ("history", {"trace": "one.gapii", "object": "program:1"},
         ["history", "--json", ONE, "program:1"]),
        ("problems", {"trace": "one.gapii"}, ["problems", "--json", ONE]),
        ("statistics", {"trace": "one.gapii", "top": 4}, ["stats", "--json", "--top=4", ONE]),
        ("threads", {"trace": "one.gapii", "events": 10}, ["threads", "--json", "--events=10", ONE]),
        ("differences", {"trace": "one.gapii", "other": "other.gapii", "no_frames": True},
         ["diff", "--json", "--no-frames", ONE, OTHER]),
    ]
    for name, arguments, words in questions:
        texts, _ = await ask(session, name, **arguments)
        expected = printed(*words)
        if len(expected) <= BYTES_MAX:
            assert texts == [expected], f"{name}: {texts} is not {expected}"
            print(f"{name}: as gapii-ctl prints it, {len(expected)} bytes")
        else:
            kept, remark = json.loads(texts[0]), texts[1]
            assert "left_out" in texts[0] and kept.keys() == json.loads(expected).keys(), name
            print(f"{name}: {len(texts[0])} of {len(expected)} bytes; {remark}")
    _, pictures = await ask(session, "picture", trace="one.gapii", at=draw)
    assert pictures and pictures == picture(draw)[:len(pictures)]
    print(f"picture: as gapii-ctl writes it, {len(pictures[0])} bytes")
    listed = json.loads((await ask(session, "traces"))[0][0])["traces"]
    assert {pathlib.Path(it["trace"]).name for it in listed} == {"one.gapii", "other.gapii"}, listed
    long, _ = await ask(session, "commands", trace="one.gapii", top=100000)
    assert "lines" in long[1], long[1]
    assert "no trace" in await refused(session, "info", trace="/etc/passwd")
    assert "needs `at`" in await refused(session, "picture", trace="one.gapii")
    print("refusals: as they should be")


async def check_recording(session):
    """Records a program that runs."""
    tools = {tool.name for tool in (await session.list_tools()).tools}
    assert {"programs", "record"} <= tools, tools
    program = subprocess.Popen(
        [TOOL, "run", "--idle", "--", "glmark2-es2", "--size", "64x64", "--benchmark", "build:duration=60"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wanted = {"program": "glmark2-es2", "trace": "new.gapii", "frames": 10}
        answer = await session.call_tool("record", wanted)
        for _ in range(100):
            if not answer.is_error:
                break
            await asyncio.sleep(0.1)
            answer = await session.call_tool("record", wanted)
        assert not answer.is_error, answer
        programs, _ = await ask(session, "programs")
        assert "glmark2-es2" in programs[0], programs
        info, _ = await ask(session, "info", trace="new.gapii")
        assert json.loads(info[0])["frames"] == 10, info
        assert "exists" in await refused(session, "record", **wanted)
        print("record: 10 frames of a program that runs")
    finally:
        program.terminate()
        program.wait()


async def with_server(options, check):
    server = StdioServerParameters(command=TOOL, args=["mcp", *options, str(FOLDER)], env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        await check(session)


async def main():
    await with_server([], check_reading)
    await with_server(["--allow-capture"], check_recording)


asyncio.run(main())

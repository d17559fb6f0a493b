"""Commands of a capture are read while it is recorded."""

import itertools
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

import gapii
import pytest
from conftest import RECORDED, TOOL, dumped, frames_of

PROGRAM = os.environ["GAPII_PROGRAM"]
# Clears, reads a pixel and swaps, with one thread, for 600 s, every 20 ms, until it gets SIGTERM.
ENDLESS, ARGUMENTS = os.environ["GAPII_ENDLESS_PROGRAM"], ["1", "600", "20000"]


def shown(command):
    return command.seq, command.function, command.frame, str(command.args), command.names, command.role


def processes_of(program):
    """Ids of the processes that run this program."""
    found = []
    for process in pathlib.Path("/proc").iterdir():
        try:
            found += [int(process.name)] if os.readlink(process / "exe") == program else []
        except (OSError, ValueError):
            pass
    return found


def ended(program):
    deadline = time.monotonic() + 30
    while processes_of(program):
        assert time.monotonic() < deadline, f"{program} runs"
        time.sleep(0.05)


@pytest.fixture
def program(tmp_path):
    """A program that does not end, and that no other test runs."""
    copy = tmp_path / "endless"
    copy.write_bytes(pathlib.Path(ENDLESS).read_bytes())
    copy.chmod(0o755)
    return str(copy)


def test_commands_are_those_of_the_trace(tmp_path):
    path = tmp_path / "live.gapii"
    with gapii.capture([PROGRAM], frames=3, path=path, tool=TOOL) as live:
        commands = list(live)
    assert live.exit_status == 0
    assert [shown(command) for command in commands] == [shown(command) for command in live.trace.commands()]
    assert len(commands) == len(dumped(path)) > 10 and live.trace.frame_count == 3
    # Memory of commands is read from the trace when it is asked for.
    own = [memory for command in commands for memory in command.reads]
    hashes = [memory.hash for command in live.trace.commands() for memory in command.reads]
    assert [memory.hash for memory in own] == hashes
    assert all(len(memory.data) == memory.size for memory in own if memory.hash) and any(m.is_blob for m in own)


def test_commands_come_while_the_program_runs(program):
    with gapii.capture([program, *ARGUMENTS], function="glClear", tool=TOOL) as live:
        frames = [command.frame for command in itertools.islice(live, 100)]
        assert live.exit_status is None and processes_of(program)
        assert frames == list(range(100))
        with pytest.raises(gapii.Error, match="the capture has not ended"):
            live.trace
    ended(program)
    rest = [command.frame for command in live]
    assert len(rest) < 700, "commands come within some seconds"
    assert [command.frame for command in live.trace.commands(function="glClear")] == frames + rest


def test_loop_that_is_left_ends_the_program(program):
    for command in gapii.capture([program, *ARGUMENTS], tool=TOOL):
        if command.frame == 5:
            break
    ended(program)


def test_program_that_ends_by_itself_ends_the_iterator():
    live = gapii.capture([PROGRAM], tool=TOOL)
    assert "draw" in [command.role for command in live]
    assert next(live, None) is None and live.exit_status == 0
    assert live.trace.problem is None and live.trace.path is None


def test_running_program_is_attached_to(program, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    words = [TOOL, "run", "--idle", "--", program, *ARGUMENTS]
    running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                live = gapii.capture(app="endless", frames=2, tool=TOOL)
                frames = {command.frame for command in live if not command.is_setup}
                break
            except gapii.Error as error:
                assert time.monotonic() < deadline, error
                time.sleep(0.2)
        assert len(frames) == 2
        assert running.poll() is None, "the program runs on"
    finally:
        running.terminate()
        running.wait(30)


def test_failures_have_the_sentence_of_the_tool(tmp_path):
    path = tmp_path / "live.gapii"
    with pytest.raises(gapii.Error, match="no/such/program"):
        next(gapii.capture(["/no/such/program"], path=path, tool=TOOL))
    assert not path.exists()
    with pytest.raises(gapii.Error, match="no daemon listens"):
        next(gapii.capture(app="endless", options=[f"--connect=unix:{tmp_path}/none"], tool=TOOL))
    with pytest.raises(gapii.Error, match="unexpected argument '--no-such-option'"):
        next(gapii.capture(app="endless", options=["--no-such-option"], tool=TOOL))
    with pytest.raises(gapii.Error, match="can't run /no/gapii-ctl"):
        gapii.capture([PROGRAM], path=path, tool="/no/gapii-ctl")
    assert not path.exists()
    with pytest.raises(gapii.Error, match="glNoSuch"):
        gapii.capture([PROGRAM], function="glNoSuch", tool=TOOL)
    with pytest.raises(TypeError, match="not both"):
        gapii.capture([PROGRAM], app="x", tool=TOOL)
    path.write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        gapii.capture([PROGRAM], path=path, tool=TOOL)
    assert path.read_bytes() == b"mine"


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_damage_is_raised_behind_the_readable_part(path, tmp_path):
    whole = path.read_bytes()

    def check(data):
        """Reads these bytes from a pipe as those of a capture. Returns how many commands they have."""
        own = tmp_path / "own.gapii"
        own.write_bytes(data)
        expected = [command.seq for command in gapii.open(own).commands(strict=False)]
        reading, writing = os.pipe()
        feed = threading.Thread(target=lambda: os.fdopen(writing, "wb").write(data))
        with tempfile.TemporaryFile() as spool:
            commands = gapii._native._follow(reading, spool.fileno(), [], [], True)
            os.close(reading)
            feed.start()
            read = []
            try:
                read.extend(command.seq for command in commands)
                assert data == whole
            except gapii.DamagedError as error:
                assert data != whole and "the capture is" in str(error)
        feed.join()
        assert read == expected
        return len(read)

    assert check(whole) > 10
    check(whole[: len(whole) * 2 // 3])
    header, blocks = frames_of(path)
    at = whole.index(blocks[-1]) + len(blocks[-1]) // 2
    check(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])


LOOP = """
import sys, gapii
for command in gapii.capture(sys.argv[3:], tool=sys.argv[1], function=sys.argv[2]):
    print(command.frame, flush=True)
"""


@pytest.mark.parametrize("function", ["glClear", "glReleaseShaderCompiler"])
def test_interrupt_ends_the_loop_and_the_program(program, function):
    """The second function is not called, so that the interrupt comes while the loop waits."""
    words = [sys.executable, "-c", LOOP, TOOL, function, program, *ARGUMENTS]
    script = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not processes_of(program):
        assert time.monotonic() < deadline and script.poll() is None
        time.sleep(0.05)
    if function == "glClear":
        script.stdout.readline()
    else:
        time.sleep(1)
    script.send_signal(signal.SIGINT)
    _, said = script.communicate(timeout=60)
    assert b"KeyboardInterrupt" in said and script.returncode != 0
    ended(program)


def test_capture_ends_when_its_reader_is_killed(program):
    words = [sys.executable, "-c", LOOP, TOOL, "glClear", program, *ARGUMENTS]
    script = subprocess.Popen(words, stdout=subprocess.PIPE)
    script.stdout.readline()
    script.kill()
    script.communicate()
    ended(program)


def test_killed_tool_gives_the_commands_before_and_an_error(program):
    live = gapii.capture([program, *ARGUMENTS], function="glClear", tool=TOOL)
    next(live)
    live._process.kill()
    with pytest.raises(gapii.Error, match="gapii-ctl was ended by signal 9"):
        for _ in live:
            pass
    for process in processes_of(program):
        os.kill(process, signal.SIGKILL)

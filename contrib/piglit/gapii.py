"""Backend of piglit's replayer for traces of gapii, which it plays with `gapii-ctl replay`.

Copy this file to framework/replay/backends of piglit, which loads every module in there. `gapii-ctl` is taken from PATH;
PIGLIT_REPLAY_GAPII_BINARY in the environment, or gapii_bin in the section [replay] of piglit.conf, names another one.

A trace that could not be played whole gives no picture, so that piglit reports a crash and not a difference.
"""

import json
import shutil
import subprocess
import sys
import tempfile

from os import path

from framework import core, exceptions
from framework.replay.backends.abstract import DumpBackend, dump_handler
from framework.replay.backends.register import Registry

__all__ = ['REGISTRY', 'GapiiBackend']

EXTENSION = '.gapii'


def _loops():
    return core.get_option('PIGLIT_REPLAY_LOOP_TIMES', ('replay', 'loop_times'), default='150')


class GapiiBackend(DumpBackend):
    """Plays a trace of gapii. `calls` are numbers of frames, from 0; without them it dumps the last frame."""

    def __init__(self, trace_path, output_dir=None, calls=None, **kwargs):
        super().__init__(trace_path, output_dir, calls, **kwargs)
        if path.splitext(trace_path)[1] != EXTENSION:
            raise exceptions.PiglitFatalError('"{}" is no trace of gapii'.format(trace_path))
        self._gapii_ctl = core.get_option(
            'PIGLIT_REPLAY_GAPII_BINARY', ('replay', 'gapii_bin'), default='gapii-ctl')

    def _replay(self, *options):
        """Plays the trace strictly, and returns what `gapii-ctl replay --json` prints."""
        command = [self._gapii_ctl, 'replay', '--strict', '--json', *options, '--', self._trace_path]
        print('[gapii] Running: {}'.format(' '.join(command)), flush=True)
        # The stream may have been redirected, which a child does not see by itself.
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=sys.stderr)
        if ended.returncode:
            raise RuntimeError('[gapii] gapii-ctl ended with status {}'.format(ended.returncode))
        return json.loads(ended.stdout)

    def _get_last_frame_call(self):
        """Number of the last frame of the trace, -1 if it has none."""
        frames = subprocess.run([self._gapii_ctl, 'frames', '--json', '--', self._trace_path],
                                stdout=subprocess.PIPE, stderr=sys.stderr)
        listed = json.loads(frames.stdout)['frames'] if frames.returncode == 0 else []
        return max((frame['frame'] for frame in listed), default=-1)

    def _output_file(self, frame):
        name = '{}-{}.png'.format(path.basename(self._trace_path), frame)
        return path.join(self._output_dir, name)

    @dump_handler
    def dump(self):
        """Writes TRACE-FRAME.png for each frame of `calls`, or for the last one, as windows show them."""
        if not self._calls:
            file = self._output_file('last')
            self._replay('--opaque', '--snapshot-last', file)
            print('[gapii] Wrote {}'.format(file))
        for frame in self._calls:
            with tempfile.TemporaryDirectory(dir=self._output_dir) as folder:
                self._replay('--opaque', '--images', folder, '--frames', str(frame))
                picture = path.join(folder, 'frame-{:06}.png'.format(int(frame)))
                shutil.move(picture, self._output_file(frame))
                print('[gapii] Wrote {}'.format(self._output_file(frame)))

    @staticmethod
    def profile(trace_path):
        """Nanoseconds of the last frame in each of PIGLIT_REPLAY_LOOP_TIMES rounds: on the GPU if the driver measures that,
        otherwise from frame to frame."""
        backend = GapiiBackend(trace_path, output_dir=path.dirname(trace_path))
        answer = backend._replay('--benchmark', '--last-frame', '--loop', _loops())
        times = answer['frame_times']
        on_gpu = [time['gpu_ns'] for time in times]
        return on_gpu if None not in on_gpu else [time['cpu_ns'] for time in times]


REGISTRY = Registry(extensions=[EXTENSION], backend=GapiiBackend)

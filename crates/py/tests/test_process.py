"""Ctrl-C, fork and threads. Each test has a process of its own, which must end by itself."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def start(code: str) -> subprocess.Popen:
    head = "import os, signal, threading, time\nimport numpy as np\nimport raddle\nfrom conftest import *\n"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    program = [sys.executable, "-c", head + textwrap.dedent(code)]
    return subprocess.Popen(program, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen) -> str:
    try:
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0, err
    return out.strip()


@pytest.mark.parametrize("engine", ["timing", "fast", "reference"])
@pytest.mark.parametrize("scheduler", ["'gto'", "Lowest"])
def test_ctrl_c_ends_a_launch(engine, scheduler):
    process = start(f"""
        class Lowest:
            def pick(self, view, among):
                return min(among)
        gpu = raddle.Machine("gtx480", issue={scheduler}).device(engine="{engine}", lanes=0)
        kernel = gpu.compile(ENDLESS).endless[1, 32]
        print("ready", flush=True)
        try:
            kernel()
        except KeyboardInterrupt:
            try:
                kernel()
            except raddle.Error as error:
                print("interrupted,", "make a new one" in str(error))
        """)
    assert process.stdout.readline().strip() == "ready"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert finish(process) == "interrupted, True"


def test_ctrl_c_ends_a_sweep():
    process = start("""
        print("ready", flush=True)
        try:
            raddle.sweep(["matmul"], {"gpu.sms": list(range(1, 16))}, size="paper", progress=False)
        except KeyboardInterrupt:
            print("interrupted")
        """)
    assert process.stdout.readline().strip() == "ready"
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    assert finish(process) == "interrupted"


def test_a_fork_makes_devices_of_its_own():
    process = start("""
        gpu = raddle.Machine("gtx480").device(threads=2)
        module = gpu.compile(TWICE)
        words = np.ones(64, np.uint32)
        module.twice[1, 64](words, 64)
        child = os.fork()
        if child == 0:
            try:
                module.twice[1, 64](words, 64)
            except RuntimeError as error:
                refused = "forked" in str(error)
            own = raddle.Machine("gtx480").device(threads=2)
            own.compile(TWICE).twice[1, 64](words, 64)
            os._exit(0 if refused and words[0] == 4 else 1)
        _, status = os.waitpid(child, 0)
        module.twice[1, 64](words, 64)
        print(os.waitstatus_to_exitcode(status), words[0])
        """)
    assert finish(process) == "0 4"


def test_multiprocessing():
    process = start("""
        import multiprocessing

        def cycles(sms):
            return raddle.Machine("gtx480", set={"gpu.sms": sms}).run("bfs", size="tiny").cycles

        here = [cycles(n) for n in (1, 2, 3)]
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map(cycles, (1, 2, 3)) == here)
        """)
    assert finish(process) == "True"


def test_threads_share_a_device_and_have_their_own():
    process = start("""
        shared = raddle.Machine("gtx480", issue="gto").device()
        kernel = shared.compile(TWICE).twice
        wrong = []

        def work(n):
            own = raddle.Machine("gtx480", set={"gpu.sms": 1 + n}).device(engine="timing" if n % 2 else "fast")
            mine = own.compile(TWICE).twice
            for _ in range(20):
                for one in (kernel, mine):
                    words = np.arange(100, dtype=np.uint32) + n
                    one[1, 128](words, 100)
                    if (words != 2 * (np.arange(100) + n)).any():
                        wrong.append(n)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        print(len(wrong))
        """)
    assert finish(process) == "0"


def test_a_thread_with_a_scheduler_in_python_leaves_the_interpreter_to_others():
    process = start("""
        class Lowest:
            def pick(self, view, among):
                return min(among)

        def run():
            raddle.Machine("gtx480", issue=Lowest).run("reduction", size="tiny", threads=2)

        thread = threading.Thread(target=run)
        thread.start()
        beats = 0
        while thread.is_alive():
            beats += 1
            time.sleep(0.001)
        print(beats > 3)
        """)
    assert finish(process) == "True"


def test_objects_may_die_in_any_order():
    process = start("""
        import gc
        gpu = raddle.Machine("gtx480").device()
        array, module = gpu.zeros(100, np.uint32), gpu.compile(TWICE)
        kernel = module.twice
        run = kernel[1, 64](array, 64)
        del gpu, module
        gc.collect()
        kernel[1, 64](array, 64)
        del kernel, array
        gc.collect()
        print(run.cycles > 0, len(run.lines()) > 0)
        """)
    assert finish(process) == "True True"


def test_the_interpreter_ends_while_a_launch_runs():
    process = start("""
        kernel = raddle.Machine("gtx480").device(lanes=0).compile(ENDLESS).endless[1, 32]
        threading.Thread(target=kernel, daemon=True).start()
        time.sleep(0.3)
        print("end", flush=True)
        """)
    assert finish(process) == "end"


@pytest.mark.parametrize("what", ["gpu.empty(4)", "module.loop[1, 1](words, 1)", "gpu.compile(TWICE)"])
def test_a_mechanism_cannot_wait_for_a_thread_that_uses_its_device(what):
    process = start(f"""
        class Waits:
            said = None
            def pick(self, view, among):
                if Waits.said is None:
                    Waits.said = ""
                    def use():
                        try:
                            {what}
                        except RuntimeError as error:
                            Waits.said = str(error)
                    thread = threading.Thread(target=use)
                    thread.start()
                    thread.join()
                return among[0]
        words = np.zeros(1, np.uint32)
        gpu = raddle.Machine("gtx480", issue=Waits, set={{"gpu.sms": 1}}).device(threads=1)
        module = gpu.compile(LOOP)
        module.loop[1, 32](words, 10)
        print(words[0], "a mechanism cannot wait for a thread that uses the device" in Waits.said)
        """)
    assert finish(process) == "10 True"


def test_threads_may_wait_for_a_launch():
    process = start("""
        class Slow:
            def pick(self, view, among):
                time.sleep(0.02)
                return among[0]
        gpu = raddle.Machine("gtx480", issue=Slow, set={"gpu.sms": 1}).device(threads=1)
        module, words = gpu.compile(LOOP), np.zeros(1, np.uint32)
        thread = threading.Thread(target=lambda: module.loop[1, 32](words, 100))
        thread.start()
        time.sleep(0.5)
        begun = time.monotonic()
        total, waited = gpu.zeros(4).numpy().sum(), time.monotonic() - begun
        thread.join()
        print(total, waited > 4.5, words[0])
        """)
    assert finish(process) == "0.0 True 100"


@pytest.mark.parametrize("size", [10, 5_000_000])
def test_an_array_that_is_resized_during_a_launch(size):
    process = start(f"""
        class Resizes:
            def pick(self, view, among):
                if words.size == 1_000_000:
                    words.resize({size}, refcheck=False)
                return among[0]
        words = np.ones(1_000_000, np.uint32)
        module = raddle.Machine("gtx480", issue=Resizes, set={{"gpu.sms": 1}}).device(threads=1).compile(LOOP)
        try:
            module.loop[1, 32](words, 10)
        except ValueError as error:
            print(error)
        print(words[:5])
        """)
    said = f"argument 1 was resized from (1000000,) to ({size},) during the launch"
    assert finish(process) == f"{said}\n[1 1 1 1 1]"

"""Programs that end with the harness, the output of programs, and ports."""

import atexit
import os
import signal
import socket
import subprocess
import sys
import time


class Failure(Exception):
    """A program failed, or did not do something in time."""


def start(arguments, **options):
    """Starts a program that ends with the harness at the latest, however that ends."""
    process = subprocess.Popen([str(word) for word in arguments], **options)
    atexit.register(end, process)
    return process


def end(process):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


# Without this, SIGTERM would end the harness without the functions of atexit.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def output(command, env=None, cwd=None, timeout=120, input=None):
    """What a program writes to standard output. `Failure` if its exit code is not 0."""
    done = subprocess.run([str(word) for word in command], env=env, cwd=cwd, timeout=timeout, input=input, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    if done.returncode != 0:
        said = (done.stdout + done.stderr).decode(errors="replace")
        raise Failure(f"{command[0]} ended with {done.returncode}: {said[-1500:]}")
    return done.stdout


def without_proxies(*prefixes):
    """The environment without proxies, and without the variables that begin so."""
    return {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy") and not key.startswith(prefixes)}


def wait_until(condition, what, process=None, seconds=60):
    """Waits until the condition returns something true, and returns that. `Failure` when the time is up or the process has ended."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if process and process.poll() is not None:
            raise Failure(f"{what}: the process ended with {process.returncode}")
        if time.monotonic() > deadline:
            raise Failure(f"{what}: not within {seconds} s")
        time.sleep(0.02)
    return found


reserved = []


def free_port():
    """
    A port of 127.0.0.1 for a server that sets SO_REUSEADDR. It stays reserved until this program ends: the system then gives it to no
    other socket, neither for a connection nor for a server that wants any port.
    """
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", 0))
    reserved.append(s)
    return s.getsockname()[1]


def wait_for_port(port, process=None):
    def listens():
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", port)) == 0

    wait_until(listens, f"a program that listens on port {port}", process)

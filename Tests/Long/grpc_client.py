"""A gRPC client for http2_clients.py: grpc_client.py AUTHORITY [ROOT]. Prints a line for each thing that it tried: `ok NAME` or `FAILED NAME: why`.

The proxy comes from the environment, as gRPC reads it. With the path of a root certificate it speaks TLS.
"""

import queue
import sys

import grpc

SECONDS = 60
tried = []


def trial(function):
    tried.append(function)
    return function


def expect(found, wanted):
    if found != wanted:
        raise AssertionError(f"{str(found)[:300]} instead of {str(wanted)[:300]}")


def failure(call):
    """The error of a call that must fail."""
    try:
        result = call()
    except grpc.RpcError as error:
        return error
    raise AssertionError(f"no error: {str(result)[:100]}")


def take_all(answers, found):
    """Also those before an error."""
    for answer in answers:
        found.append(answer)


def messages():
    return [bytes([number % 256]) * (number * 997 % 40_000) for number in range(30)]


@trial
def unary(channel):
    for size in (0, 1, 16_384, 1_000_000):
        content = bytes(number % 251 for number in range(size))
        answer, call = channel.unary_unary("/a.B/Reverse").with_call(content, timeout=SECONDS)
        expect(answer, content[::-1])
        expect(call.code(), grpc.StatusCode.OK)


@trial
def metadata(channel):
    sent = (("word", "with spaces, and commas"), ("some-bin", bytes(range(256))))
    _, call = channel.unary_unary("/a.B/Reverse").with_call(b"abc", timeout=SECONDS, metadata=sent)
    first, last = dict(call.initial_metadata()), dict(call.trailing_metadata())
    expect((first.get("first"), first.get("first-bin")), ("1", b"\0\xff"))
    expect((last.get("last"), last.get("last-bin")), ("2", b"\xff\0"))


@trial
def client_streaming(channel):
    expect(channel.stream_unary("/a.B/Join")(iter(messages()), timeout=SECONDS), b"".join(messages()))


@trial
def server_streaming(channel):
    content = b"".join(messages())
    expect(b"".join(channel.unary_stream("/a.B/Split")(content, timeout=SECONDS)), content)


@trial
def bidirectional(channel):
    """Sends a message once the answer to the one before has arrived."""
    waiting = queue.Queue()
    answers = channel.stream_stream("/a.B/Answer")(iter(waiting.get, None), timeout=SECONDS)
    for message in messages():
        waiting.put(message + b"end")
        expect(next(answers), (message + b"end")[::-1])
    waiting.put(None)
    expect(list(answers), [])
    expect(answers.code(), grpc.StatusCode.OK)


@trial
def many_at_once(channel):
    calls = [channel.unary_unary("/a.B/Reverse").future(str(number).encode() * 1000, timeout=SECONDS) for number in range(150)]
    for number, call in enumerate(calls):
        expect(call.result(), (str(number).encode() * 1000)[::-1])


@trial
def many_streams_at_once(channel):
    """Each stays open until all have begun."""
    calls = [channel.unary_stream("/a.B/WaitLater")(b"one of many", timeout=SECONDS) for _ in range(90)]
    try:
        for call in calls:
            expect(next(call), b"one")
    finally:
        for call in calls:
            call.cancel()


@trial
def status_without_messages(channel):
    error = failure(lambda: channel.unary_unary("/a.B/Fail")(b"", timeout=SECONDS))
    expect((error.code(), error.details()), (grpc.StatusCode.FAILED_PRECONDITION, "not in order: ü %"))
    fields = dict(error.trailing_metadata())
    expect((fields.get("reason"), fields.get("detail-bin")), ("as requested", bytes(range(256))))


@trial
def status_after_messages(channel):
    answers, found = channel.unary_stream("/a.B/FailLater")(b"", timeout=SECONDS), []
    error = failure(lambda: take_all(answers, found))
    expect((found, error.code(), error.details()), ([b"one", b"two"], grpc.StatusCode.DATA_LOSS, "after two"))
    expect(dict(error.trailing_metadata()).get("reason"), "as requested")


@trial
def server_raises(channel):
    error = failure(lambda: channel.unary_unary("/a.B/Raise")(b"", timeout=SECONDS))
    expect(error.code(), grpc.StatusCode.UNKNOWN)


@trial
def unknown_method(channel):
    error = failure(lambda: channel.unary_unary("/a.B/Nothing")(b"", timeout=SECONDS))
    expect(error.code(), grpc.StatusCode.UNIMPLEMENTED)


@trial
def denied(channel):
    """Larder answers 403, which gRPC has as PERMISSION_DENIED."""
    error = failure(lambda: channel.unary_unary("/a.B/Denied")(b"abc", timeout=SECONDS))
    expect(error.code(), grpc.StatusCode.PERMISSION_DENIED)


@trial
def denied_stream(channel):
    """As above, while the client still sends."""
    waiting = queue.Queue()
    waiting.put(b"abc")
    answers = channel.stream_stream("/a.B/Denied")(iter(waiting.get, None), timeout=SECONDS)
    error = failure(lambda: next(answers))
    waiting.put(None)
    expect(error.code(), grpc.StatusCode.PERMISSION_DENIED)


@trial
def deadline(channel):
    error = failure(lambda: channel.unary_unary("/a.B/Wait")(b"deadline", timeout=1))
    expect(error.code(), grpc.StatusCode.DEADLINE_EXCEEDED)


@trial
def deadline_after_messages(channel):
    for timeout in (1, 4, 16, SECONDS):
        answers, found = channel.unary_stream("/a.B/WaitLater")(b"deadline-later", timeout=timeout), []
        expect(failure(lambda: take_all(answers, found)).code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        # A machine that is busy may need longer for the first message.
        if found:
            break
    expect(found, [b"one"])


@trial
def cancel(channel):
    """Once the server has sent something, so that the call is there."""
    answers = channel.unary_stream("/a.B/WaitLater")(b"cancel", timeout=SECONDS)
    expect(next(answers), b"one")
    answers.cancel()
    expect(answers.code(), grpc.StatusCode.CANCELLED)


@trial
def cancel_while_sending(channel):
    waiting = queue.Queue()
    waiting.put(b"cancel-sending")
    answers = channel.stream_stream("/a.B/WaitForMore")(iter(waiting.get, None), timeout=SECONDS)
    expect(next(answers), b"cancel-sending")
    answers.cancel()
    waiting.put(None)
    expect(answers.code(), grpc.StatusCode.CANCELLED)


@trial
def works_after_all_that(channel):
    expect(channel.unary_unary("/a.B/Reverse")(b"abc", timeout=SECONDS), b"cba")


@trial
def server_exits(channel):
    answers = channel.unary_stream("/a.B/Exit")(b"exit", timeout=SECONDS)
    error = failure(lambda: list(answers))
    if error.code() not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN):
        raise AssertionError(f"{error.code()}: {error.details()}")


def main():
    authority, *root = sys.argv[1:]
    options = [("grpc.max_receive_message_length", -1)]
    if root:
        channel = grpc.secure_channel(authority, grpc.ssl_channel_credentials(open(root[0], "rb").read()), options=options)
    else:
        channel = grpc.insecure_channel(authority, options=options)
    failed = False
    with channel:
        for function in tried:
            name = function.__name__.replace("_", " ")
            try:
                function(channel)
                print(f"ok {name}", flush=True)
            except (AssertionError, grpc.RpcError, StopIteration) as error:
                failed = True
                said = f"{error.code()} {error.details()}" if isinstance(error, grpc.RpcError) else str(error)
                print(f"FAILED {name}: {said}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

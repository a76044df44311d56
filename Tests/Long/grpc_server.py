"""A gRPC server for http2_clients.py: grpc_server.py PORT-FILE [CERTIFICATE KEY]. Writes a line to standard output for each call and its end.

Calls whose path ends in /Denied must never arrive. Every message is bytes; there is no schema.
"""

import os
import sys
import threading
from concurrent import futures

import grpc

lock, waiting, none_waits = threading.Lock(), [], threading.Condition()


def note(*words):
    with lock:
        print(*words, flush=True)


def aborts(context, code, details):
    """Trailing metadata with text and with bytes goes along."""
    context.set_trailing_metadata((("reason", "as requested"), ("detail-bin", bytes(range(256)))))
    context.abort(code, details)


def until_cancelled(context, name):
    """Waits until the call has ended by the client's cancel or deadline."""
    ended = threading.Event()
    with none_waits:
        waiting.append(name)
    if context.add_callback(ended.set):
        ended.wait(60)
    note("cancelled" if not context.is_active() else "still active", name)
    with none_waits:
        waiting.remove(name)
        none_waits.notify_all()


class Methods(grpc.GenericRpcHandler):
    def service(self, call):
        name = call.method.rpartition("/")[2]
        note("called", call.method)
        return getattr(self, name, None) and getattr(self, name)()

    def Reverse(self):
        def reverse(request, context):
            context.send_initial_metadata((("first", "1"), ("first-bin", b"\0\xff")))
            context.set_trailing_metadata((("last", "2"), ("last-bin", b"\xff\0")))
            return request[::-1]
        return grpc.unary_unary_rpc_method_handler(reverse)

    Denied = Reverse

    def Join(self):
        return grpc.stream_unary_rpc_method_handler(lambda requests, context: b"".join(requests))

    def Split(self):
        def split(request, context):
            for start in range(0, len(request), 10_000):
                yield request[start:start + 10_000]
        return grpc.unary_stream_rpc_method_handler(split)

    def Answer(self):
        return grpc.stream_stream_rpc_method_handler(lambda requests, context: (request[::-1] for request in requests))

    def Fail(self):
        return grpc.unary_unary_rpc_method_handler(
            lambda request, context: aborts(context, grpc.StatusCode.FAILED_PRECONDITION, "not in order: ü %"))

    def FailLater(self):
        def fail(request, context):
            yield b"one"
            yield b"two"
            aborts(context, grpc.StatusCode.DATA_LOSS, "after two")
        return grpc.unary_stream_rpc_method_handler(fail)

    def Raise(self):
        def fail(request, context):
            raise ValueError("no such thing")
        return grpc.unary_unary_rpc_method_handler(fail)

    def Wait(self):
        return grpc.unary_unary_rpc_method_handler(lambda request, context: until_cancelled(context, request.decode()))

    def WaitLater(self):
        def wait(request, context):
            yield b"one"
            until_cancelled(context, request.decode())
        return grpc.unary_stream_rpc_method_handler(wait)

    def WaitForMore(self):
        """Reads until the client leaves."""
        def wait(requests, context):
            first = next(requests)
            yield first
            until_cancelled(context, first.decode())
        return grpc.stream_stream_rpc_method_handler(wait)

    def Exit(self):
        """The process ends in the middle of a response, once the calls that wait have ended."""
        def leave(request, context):
            yield b"one"
            with none_waits:
                none_waits.wait_for(lambda: not waiting, 120)
            os._exit(7)
        return grpc.unary_stream_rpc_method_handler(leave)


def main():
    port_file, *files = sys.argv[1:]
    server = grpc.server(futures.ThreadPoolExecutor(200), options=[("grpc.max_receive_message_length", -1)])
    server.add_generic_rpc_handlers((Methods(),))
    if files:
        certificate, key = (open(file, "rb").read() for file in files)
        port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(key, certificate)]))
    else:
        port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with open(port_file, "w") as file:
        file.write(f"{port}\n")
    server.wait_for_termination()


if __name__ == "__main__":
    main()

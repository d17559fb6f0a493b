"""Exports traces from an S3 server to it, over connections that break, and compares the tables with those of a local export.

Arguments: the control tool, a folder with traces, and a folder for the tables of the local export. The server is moto's, behind a
proxy that ends each connection once it has passed on 20,000 bytes of answers.
"""

import os
import pathlib
import socket
import subprocess
import sys
import threading

import logging

import boto3
from moto.server import ThreadedMotoServer

TOOL, TRACES, LOCAL = sys.argv[1:]
TRACES, LOCAL = pathlib.Path(TRACES), pathlib.Path(LOCAL)
BYTES_MAX = 20_000


class Proxy:
    """Passes connections on to the server."""

    def __init__(self, server):
        self.server = server
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.connections = 0
        self.broken = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(self.server)
            self.connections += 1
            threading.Thread(target=self.pass_on, args=(client, server, None), daemon=True).start()
            threading.Thread(target=self.pass_on, args=(server, client, BYTES_MAX), daemon=True).start()

    def pass_on(self, source, sink, room):
        try:
            while part := source.recv(4096):
                sink.sendall(part if room is None else part[:room])
                if room is not None and (room := room - len(part)) <= 0:
                    self.broken += 1
                    break
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def main():
    # A line for each request.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    address = server.get_host_and_port()
    keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
    store = boto3.client("s3", endpoint_url="http://{}:{}".format(*address), region_name="us-east-1",
                         aws_access_key_id="key", aws_secret_access_key="secret")
    store.create_bucket(Bucket="lab")
    traces = sorted(TRACES.rglob("*.gapii"))
    for trace in traces:
        store.upload_file(str(trace), "lab", f"traces/{trace.relative_to(TRACES)}")
    proxy = Proxy(address)
    environment = {**os.environ, **keys, "AWS_ENDPOINT": f"http://127.0.0.1:{proxy.port}", "AWS_ALLOW_HTTP": "true"}
    export = [TOOL, "export", "--format", "parquet", "-o"]
    subprocess.run([*export, "s3://lab/tables", "s3://lab/traces/"], env=environment, check=True)
    subprocess.run([*export, LOCAL, TRACES], check=True)
    stored = {}
    for page in store.get_paginator("list_objects_v2").paginate(Bucket="lab", Prefix="tables/"):
        for entry in page.get("Contents", []):
            content = store.get_object(Bucket="lab", Key=entry["Key"])["Body"].read()
            stored[entry["Key"].removeprefix("tables/")] = content
    local = {str(path.relative_to(LOCAL)): path.read_bytes() for path in LOCAL.rglob("*.parquet")}
    assert sorted(stored) == sorted(local), f"{sorted(stored)} in the store, {sorted(local)} here"
    # The table of traces has their URLs.
    other = [path for path in local if "table=traces" not in path and stored[path] != local[path]]
    assert not other, f"other contents in the store: {other}"
    assert len(local) == 5 * len(traces), f"{len(local)} files of {len(traces)} traces"
    assert proxy.broken > 0, "no connection broke"
    print(f"{len(traces)} traces exported from and to S3: {proxy.broken} of {proxy.connections} connections broke")
    server.stop()


main()

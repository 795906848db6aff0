"""A Dask cluster on this machine that no other of its users can reach.

Dask executes whatever reaches its ports. So all connections need a certificate that exists only in the memory of these
processes, and there are no HTTP servers, which Dask has no option to leave out.
"""

import logging

from distributed import Nanny, Scheduler, Security, SpecCluster, Worker


class PrivateScheduler(Scheduler):
    def start_http_server(self, *_arguments: object, **_options: object) -> None: ...


class PrivateWorker(Worker):
    def start_http_server(self, *_arguments: object, **_options: object) -> None: ...


def local_cluster(workers: int) -> SpecCluster:
    """Raises ImportError without the package cryptography."""
    security = Security.temporary()
    shared = {"host": "127.0.0.1", "protocol": "tls://", "security": security, "dashboard": False}
    options = {"worker_class": PrivateWorker, "nthreads": 1, "memory_limit": 0, "silence_logs": logging.CRITICAL}
    return SpecCluster(
        scheduler={"cls": PrivateScheduler, "options": {"port": 0, **shared}},
        workers={number: {"cls": Nanny, "options": options | shared} for number in range(workers)},
        security=security,
        silence_logs=logging.CRITICAL,
    )

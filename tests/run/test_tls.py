"""Who reaches a cluster: nobody else one on this machine, and only those with its certificates a real one."""

import datetime
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from reinflect.run.cluster import Cluster, Where, connected
from tests.run.test_dask import DASK, SECONDS, command, data, environment, running, scheduler_call, wait_until

__all__ = ["data", "environment"]
QUICKLY = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "3s"}


@pytest.fixture(scope="module")
def local() -> Iterator[Cluster]:
    with connected(Where(workers=1), "cpu") as cluster:
        yield cluster


def test_all_connections_of_a_local_cluster_are_encrypted(local: Cluster) -> None:
    about = local.client.scheduler_info()
    (worker,) = about["workers"].values()
    for address in (about["address"], *about["workers"], worker["nanny"]):
        assert address.startswith("tls://127.0.0.1:")


@pytest.mark.parametrize("scheme", ["tcp", "tls"])
def test_nobody_without_its_certificate_reaches_a_local_cluster(local: Cluster, scheme: str, tmp_path: Path) -> None:
    about = local.client.scheduler_info()
    for reached in (about["address"], *about["workers"]):
        address = reached.replace("tls", scheme)
        program = f"""if True:
            import asyncio
            from distributed import Security
            from distributed.core import connect, rpc
            async def main():
                security = Security.temporary() if {scheme == "tls"} else Security()
                comm = await connect({address!r}, timeout=3, **security.get_connection_args("client"))
                await comm.write({{"op": "identity", "reply": True}})
                print("reached", await comm.read())
            asyncio.run(main())
        """
        done = subprocess.run([DASK[0], "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
        assert done.returncode == 1, done.stdout
        assert "reached" not in done.stdout
        assert "CommClosedError" in done.stderr or "OSError" in done.stderr


def test_a_local_cluster_has_no_other_ports(local: Cluster) -> None:
    """Those of Dask's HTTP servers, that is."""
    about = local.client.scheduler_info()
    addresses = (about["address"], *about["workers"], *(own["nanny"] for own in about["workers"].values()))
    wanted = {int(address.rpartition(":")[2]) for address in addresses}
    here = psutil.Process()
    processes = [here, *here.children(recursive=True)]
    listening = [own for process in processes for own in process.net_connections() if own.status == "LISTEN"]
    assert {own.laddr.port for own in listening} == wanted
    assert not about["services"]


class Authority:
    """Signs certificates, as an administrator of a cluster does."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder, self.key = folder, ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, folder.name)])
        self.ca = self.signed("ca", self.key)[0]

    def signed(self, name: str, key: ec.EllipticCurvePrivateKey | None = None) -> tuple[str, str]:
        """The files of a certificate and its key."""
        own = key or ec.generate_private_key(ec.SECP256R1())
        now = datetime.datetime.now(tz=datetime.UTC)
        made = (
            x509.CertificateBuilder()
            .subject_name(self.name if key else x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
            .issuer_name(self.name)
            .public_key(own.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=key is not None, path_length=None), critical=True)
            .sign(self.key, hashes.SHA256())
        )
        certificate, private = self.folder / f"{name}.pem", self.folder / f"{name}-key.pem"
        certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        plain = serialization.NoEncryption()
        private.write_bytes(own.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
        return str(certificate), str(private)


def test_a_scheduler_with_tls_is_reached_with_its_files_only(
    data: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    ours, theirs = Authority(tmp_path / "ours"), Authority(tmp_path / "theirs")
    certificate, key = ours.signed("cluster")
    tls = ["--tls-ca-file", ours.ca, "--tls-cert", certificate, "--tls-key", key]
    file, out = tmp_path / "scheduler.json", tmp_path / "out"
    dask = ["--engine", "dask", "--scheduler-file", file]

    def complaint(*more: object) -> str:
        done = subprocess.run(
            command(data, out, *dask, *more), env=environment | QUICKLY, capture_output=True, text=True, timeout=SECONDS
        )
        assert done.returncode == 2, done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr
        return done.stderr.strip()

    with ExitStack() as stack:
        call = [*scheduler_call(file), "--protocol", "tls", *tls]
        scheduler = stack.enter_context(running(call, environment))
        wait_until(file.exists, scheduler)
        told = complaint()
        assert "the scheduler at 'tls://127.0.0.1:" in told
        assert "needs a certificate; give it with --tls AUTHORITY CERTIFICATE KEY" in told
        told = complaint("--tls", ours.ca, tmp_path / "none.pem", key)
        assert told == f"reinflect: {tmp_path / 'none.pem'}: there is no such file; check the name and the folder"
        told = complaint("--tls", ours.ca, certificate, theirs.signed("other")[1])
        assert "the certificate for the scheduler cannot be used (" in told
        assert "give --tls AUTHORITY CERTIFICATE KEY" in told
        assert "cannot be used (" in complaint("--tls", data / "german-dev", certificate, key)
        for ca, own in ((ours.ca, theirs.signed("we")), (theirs.ca, theirs.signed("we"))):
            told = complaint("--tls", ca, *own)
            assert told.startswith("reinflect: could not reach a Dask scheduler at 'tls://127.0.0.1:")
            assert told.endswith("and that the same authority signed both certificates")
        worker = [*DASK, "worker", "--scheduler-file", str(file), "--nthreads", "1", "--memory-limit", "0"]
        stack.enter_context(running([*worker, "--no-dashboard", "--no-nanny", "--protocol", "tls", *tls], environment))
        call = command(data, out, *dask, "--tls", ours.ca, *ours.signed("we"))
        done = subprocess.run(call, env=environment, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    assert "8 of 8 models trained" in done.stderr


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ([], "found --tls without a scheduler; name it with --scheduler or --scheduler-file"),
        (["--scheduler", "tcp://127.0.0.1:1"], "found --tls for 'tcp://127.0.0.1:1', a scheduler without TLS"),
        (["--scheduler", "127.0.0.1:1"], "a: there is no such file"),
    ],
)
def test_options_that_do_not_fit_are_told_in_one_line(
    data: Path, tmp_path: Path, environment: dict[str, str], more: list[str], told: str
) -> None:
    call = command(data, tmp_path / "out", "--engine", "dask", *more, "--tls", "a", "b", "c")
    done = subprocess.run(call, env=environment, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert told in line

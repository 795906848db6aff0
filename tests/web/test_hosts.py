import pytest
from hypothesis import given
from hypothesis import strategies as st

from reinflect.web.hosts import LOCAL, Hosts, host_name, is_loopback, same_origin


def test_at_a_loopback_address_only_local_names_are_admitted() -> None:
    for address in ("127.0.0.1", "::1", "127.0.0.2"):
        hosts = Hosts.at(address)
        assert hosts.names == LOCAL | {address}
        assert not hosts.any_address
    assert not Hosts.at("127.0.0.1").admit("192.168.1.1")


def test_at_other_addresses_any_address_but_not_any_name_is_admitted() -> None:
    hosts = Hosts.at("0.0.0.0", ["Words.Example.org."])
    for host in ("192.168.1.5:8000", "[fe80::1]:80", "[2001:db8::5]", "words.example.org", "WORDS.example.org:1"):
        assert hosts.admit(host), host
    for host in ("example.org", "1.2.3.4.example.org", "1.2.3", "0x7f.1", "words.example.org.evil", "fe80::1"):
        assert not hosts.admit(host), host


@pytest.mark.parametrize(
    "host", ["", ":80", "a b", "a/b", "a@b", "a:b", "a:", "a:123456", "[a]", "[::1", "[::1]x", "a\n"]
)
def test_invalid_hosts_have_no_name(host: str) -> None:
    assert host_name(host) is None


@given(st.text())
def test_any_text_can_be_checked(host: str) -> None:
    name = host_name(host)
    assert Hosts().admit(host) == (name in LOCAL)
    assert isinstance(same_origin(host, host), bool)


@given(st.sampled_from(["localhost:8000", "127.0.0.1", "[::1]:1"]), st.sampled_from(["http", "https"]))
def test_the_origin_must_equal_the_host(host: str, scheme: str) -> None:
    assert same_origin(f"{scheme}://{host}", host)
    assert same_origin(f"{scheme}://{host.upper()}", host)
    assert not same_origin(f"{scheme}://{host}1", host)
    assert not same_origin(f"ftp://{host}", host)
    assert not same_origin(host, host)


def test_loopback_addresses() -> None:
    assert is_loopback("127.3.2.1")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("localhost.example.org")

"""What is public, and what only looks like it."""

import pytest

from om_api.domain.webhooks.addresses import is_public

PRIVATE = [
    "127.0.0.1",
    "127.8.8.8",
    "10.1.1.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.127.255.255",
    "0.0.0.0",
    "0.1.2.3",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "192.0.2.1",
    "198.18.0.1",
    "192.0.0.1",
    "::",
    "::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "ff0e::1",
    "::7f00:1",
    "2001:db8::1",
    "2001::1",
    "100::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::1",
    "2002:7f00:1::",
    "2002:a00:1::",
]
PUBLIC = [
    "8.8.8.8",
    "93.184.216.34",
    "172.32.0.1",
    "100.128.0.1",
    "2606:4700::1111",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_that_not_everybody_can_reach_is_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_that_everybody_can_reach_is_public(address):
    assert is_public(address)


def test_what_is_no_address_is_no_answer():
    with pytest.raises(ValueError, match=r"example\.org"):
        is_public("example.org")

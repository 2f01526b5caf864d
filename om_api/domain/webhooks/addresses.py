"""Which addresses are the public internet's: a webhook must not make workers knock at doors that are open to them alone."""

import ipaddress

_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether anybody could reach an IP address: not one of loopback, a private network, a link, a carrier's NAT or many hosts.

    An IPv6 address that carries an IPv4 one (mapped, NAT64, 6to4) is as public as that one.
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv4Address):
        return ip.is_global and not (ip.is_multicast or ip.is_reserved)
    carried = _carried(ip)
    return is_public(str(carried)) if carried else ip in _UNICAST and ip.is_global


def _carried(ip: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if ip in _NAT64:
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour

from om_api.redaction.vault import Vault

KEY = "0123456789abcdef"


def test_a_value_opens_under_its_name_and_key_alone():
    vault = Vault(KEY)
    name = vault.name("email", "ada@example.com")
    sealed = vault.seal(name, "ada@example.com")
    assert b"ada" not in sealed
    assert vault.open(name, sealed) == "ada@example.com"
    assert vault.open("email 0000000000", sealed) is None
    assert Vault(KEY + "x").open(name, sealed) is None
    assert vault.open(name, b"short") is None


def test_names_are_the_same_under_one_key_and_differ_by_kind_and_key():
    vault = Vault(KEY)
    assert vault.name("card", "1") == Vault(KEY).name("card", "1")
    assert len({vault.name("card", "1"), vault.name("iban", "1"), Vault(KEY + "x").name("card", "1")}) == 3
    assert vault.seal("card 1", "1") == Vault(KEY).seal("card 1", "1")

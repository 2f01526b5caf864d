"""The page of all settings, docs/configuration.md; `make docs` writes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from om_api.settings.catalogue import (
    ALIASES,
    MODEL_FIELDS,
    OTHER_VARIABLES,
    SETTINGS,
    Key,
    about,
    dotted,
    owner_of,
    variable,
)
from om_api.settings.documents import LONGEST_NUMBER, MOST_BYTES, MOST_LEVELS, MOST_VALUES
from om_api.settings.sections.fields import format_duration
from om_api.store.fleet.stored_settings import MOST as STORED
from om_api.store.fleet.stored_settings import MOST_BYTES_OF_A_KEY, MOST_OF_A_KEY

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

_INTRODUCTION = f"""\
# Configuration

<!-- Made by `make docs`. Change the descriptions in om_api/settings/ instead. -->

Five layers, each above the one before:

1. the defaults below;
2. `config/observational-memory.yaml` (another folder: `OM_CONFIG_DIR`);
3. `config/agents/<agent>/memory.yaml`, where a folder's name may be a glob such as `worker-*`: the agent's own
   name wins, else the longest glob that fits. Beside a folder called `config`, `agents/<agent>/memory.yaml` counts
   the same; where both are there for one name, neither is taken up, and both are named;
4. the store, for agents whose files cannot be written: an entry by name or glob, chosen likewise
   ([below](#changing-the-settings-of-an-agent));
5. the environment. Nested keys are joined by two underscores, values are written as in YAML, an empty variable
   counts as not set. An `OM_` variable that is not listed here is an error for workers, `om api`, `om up` and
   `om config check`; clients and other commands log a warning and ignore it.

Files hold two keys at the top, `observational_memory` and `models`. An unknown key, a wrong type, a value out of
range or a contradiction is an error that names file, line, key and what is permitted; `om config check` names every
one of every file at once, and files that nobody reads. While the workers run, changed files are picked up, a `./config`
that was not there when they started included; of one that is broken, and of a base file that was taken away, the last
good state stays in force, and the problem is reported, in one line for each file. An agent whose file was broken from
the start goes by the layers below it, and its own process logs that once as `settings_problem`; every other agent
goes on as if that file were not there.

While the base file is broken, nothing starts that works or serves. Commands that look (`om doctor`, `om stats` and the
like) and `om push` go on with what of it can be used, and the defaults for the rest, and say on stderr what is broken;
not where `storage` is: nobody takes another store for the one that was meant.

A file is one YAML document of at most {MOST_BYTES:,} bytes, {MOST_VALUES:,} keys and values \
(an alias counts as all it stands for) and {MOST_LEVELS}
levels. Keys are text as it is written, and so are dates; numbers have at most {LONGEST_NUMBER} characters. Tags, \
a key that is a list
or a mapping, and an alias inside its own anchor are errors. Pipes and devices are not read.

A `preset` gives other defaults: it wins over the layers below the one that states it, never over a key stated
beside it. `model` names the model of both, Observer and Reflector; beside it no `observer_model` or
`reflector_model` may stand, but a layer above may name one. `storage.redis.url` above takes the place of a `host`
below, and the other way round.

Secrets stand in the environment only: `OM_REDIS_URL` may hold a password, `storage.redis.password_env` and
`api_key_env` name the variables that hold one. A variable that the settings of one agent name (`redaction.key_env`,
`secret_env` of hooks) begins with `OM_SECRET_`; such variables are not settings themselves.

## Who may change a setting

Each setting has an owner, which the tables below name. An owner may also change the settings of the owners before it.

| owner | who that is | where they change it |
| --- | --- | --- |
| agent | an API key with the role `writer` | `PATCH /v1/resources/<id>/settings` of the resources that it is bound to |
| operator | an API key with the role `operator`, also one for `*` | the same, and the page **Settings** |
| administrator | writes files and variables, or runs `om` with access to the store | files, variables, `om config set` |

Settings that cost others something, run code or lead to secrets belong to administrators: the share of the workers, budgets,
limits of pushes, hooks, the key of redaction, addresses, the archive and the models. A change is refused with 403 if it would
alter such a setting, directly or by what it implies. An entry of the store does not say who wrote it, so an administrator's
setting is never taken from there; `om doctor` reports such an entry. `om api` without keys answers this machine only, and
every caller is an administrator. Redis users that `om acl` makes for agents cannot write settings.

## Changing the settings of an agent

```sh
om config set harold message_threshold=20000 observer.instruction='Keep every ticket number.'
om config set 'worker-*' observer_model='[deepseek, gemini-2.5-flash]' --dry-run
om config unset harold observer.instruction
```

Each prints the difference, what is in force then, what a layer above overrules, and where it was saved; `--dry-run` saves
nothing. What could not be in force is refused, by the code that loads it: an unknown key, a value out of range, a
contradiction with another layer, a key of the whole system. Comments, order and all else of a file stay; what cannot be
changed so, such as a value behind a YAML alias, is left to your editor. A file is replaced whole (written beside it,
synced, renamed), so that nobody reads half of one. Of two who save at once the second is told, with exit code 1, and
nothing of the first is lost. Over HTTP the same is `PATCH /v1/resources/harold/settings` ([HTTP](http.md#settings)).

It is saved in the agent's file, `agents/<agent>/memory.yaml`; in the store where the agent has an entry there already, or
where the file cannot be written; `--file` and `--store` choose. **Choose the store where workers run on other machines
than yours**, unless they share the folder: a file is read where it lies. An entry is a document like a file, in the
hash `P:settings` ([protocol](redis-protocol.md#1-keys)), and may say what an agent's file may say, except for what belongs to
administrators. Workers and `om api`
look every second or two, in one round trip that brings nothing where nothing changed; `om config show harold` tells
`store harold` as the origin. What could not be in force is passed over as a broken file is: what was in force stays,
`om doctor` and `om stats` tell, nobody stops. Up to {STORED:,} entries are read.
Of these, one API key may have saved {MOST_OF_A_KEY:,}, with {MOST_BYTES_OF_A_KEY:,} bytes in all; an entry counts against the
key that saved it last. The command line and files have no such limit.

Only one file and one entry hold for an agent: its own, else that of the longest glob that fits. So a new one begins as a copy
of the glob's that was in force, and says so; with an API key not where the glob states what belongs to administrators, since
the copy would not follow it. A file or an entry that states nothing any more is removed.

**A glob's file does not reach an agent that has its own file**, even if the own file states other settings, and even if an API
key created it before the glob's file existed. State what must apply to every agent in the base file or the environment. `om
config check` warns of agents whose own file leaves out administrators' settings of the glob that would apply without it, and
`om doctor` lists them. Add these settings with `om config set <agent>`, or remove the agent's file.

Agents do not read the store's layer. What a memory goes by is recorded in the memory by workers, and clients of every
language go by the record: thresholds, and the room, zone and recall of a context. What a Python client decides by itself
(`read_only`, `push_limits`, `durability`, `tokenizer`, `recall.language`, `redaction`, `hooks.before_context`, the zone of
dates in a query, the scope of a new memory) it takes from the files and variables of its own process; over HTTP `om api`
decides, which does read the store's layer.
"""
_HEAD = ("setting", "default", "unit", "permitted", "meaning", "owner", "variable")
_SECTIONS = {
    (): "What is written under `observational_memory:`",
    ("other_threads",): "`other_threads`",
    ("observer",): "`observer`",
    ("reflection",): "`reflection`",
    ("reflection", "archive"): "`reflection.archive`: how observations are [set aside in groups](groups.md)",
    ("recall",): "`recall`",
    ("prompt_cache",): "`prompt_cache`",
    ("working_memory",): "`working_memory`: fields that the Actor keeps ([working memory](working-memory.md))",
    ("hooks",): "`hooks`: code of your own around what models read and write ([hooks](hooks.md))",
    ("redaction",): "`redaction`: what is replaced by placeholders ([redaction](redaction.md))",
    ("trust",): "`trust`: whose words become facts and tasks ([trust](trust.md))",
    ("trust", "roles"): "`trust.roles`: of which roles they do",
    ("budget",): "`budget`: of one agent",
    ("total_budget",): "`total_budget`: of all agents together, in the base file only",
    ("push_limits",): "`push_limits`: of one agent ([limits of pushes](operations.md#limits-of-pushes))",
    ("durability",): "`durability`: of one agent",
    ("archive",): "`archive`: its address is that of all agents, in the base file only ([the archive](archive.md))",
    ("events",): "`events`: of all agents, in the base file only",
    ("audit",): "`audit`: of all agents, in the base file only ([the audit trail](security.md#the-audit-trail))",
    ("webhooks",): "`webhooks`: of all agents, in the base file only",
    ("metrics",): "`metrics`: of all agents, in the base file only",
    ("telemetry",): "`telemetry`: of all agents, in the base file only ([tracing](tracing.md))",
    ("api",): "`api`: of each process of `om api`, in the base file only",
    ("storage",): "`storage`",
    ("storage", "redis"): "`storage.redis`",
}
_MODELS = """\
Under `models:`, by name. A name of letters, digits and `. _ : / @ + -` may be used without standing here; its
provider is then guessed from the name. An entry in a file replaces the built-in one of its name; a variable
changes one field, and makes the model (in lower case) if there is none. In variables, what is no letter or digit
is written `_`: `OM_MODELS__GEMINI_2_5_FLASH__API_KEY_ENV`. Built in are gemini-2.5-flash, deepseek and extractive."""


def render_docs() -> str:
    """Return the whole page: every setting with default, unit, permitted values, meaning and variable."""
    return "\n".join([_INTRODUCTION, *_settings(), *_models(), *_variables()])


def _settings() -> Iterator[str]:
    for group, title in _SECTIONS.items():
        paths = [path for path in SETTINGS if path[:-1] == group]
        yield _section(title, "", _HEAD, [_row(dotted(path), path, SETTINGS[path], variable(path)) for path in paths])


def _models() -> Iterator[str]:
    fields = [(name, ("models", "<NAME>", name), info) for name, info in MODEL_FIELDS.items()]
    yield _section("`models`", _MODELS, _HEAD, [_row(name, path, info, variable(path)) for name, path, info in fields])


def _variables() -> Iterator[str]:
    short = {name: f"short for `{variable(tuple(key.split('.')))}`" for name, key in ALIASES.items()}
    rows = [(f"`{name}`", meaning) for name, meaning in {**short, **OTHER_VARIABLES}.items()]
    yield _section("Further variables", "", ("variable", "meaning"), rows)


def _row(key: str, path: Key, info: FieldInfo, name: str) -> tuple[str, ...]:
    described = about(path)
    default = f"`{_default(info.default, described['unit'])}`"
    unit = described["unit"] or "-"
    return (f"`{key}`", default, unit, described["permitted"], info.description or "", owner_of(path), f"`{name}`")


def _default(value: object, unit: str) -> str:
    if unit == "duration" and isinstance(value, float | int):
        return format_duration(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return str(value) or '""'


def _section(title: str, text: str, head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join([f"## {title}\n", *([f"{text}\n"] if text else []), table(head, rows)])


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table in Markdown, with an empty line after it; what a cell says cannot end the cell."""
    every = [head, ("---",) * len(head), *rows]
    lines = [f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in every]
    return "\n".join([*lines, ""])

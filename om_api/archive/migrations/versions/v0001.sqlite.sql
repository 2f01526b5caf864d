-- an id of its own: what the words belong to must keep its number through VACUUM
CREATE TABLE om_entries (
  id INTEGER PRIMARY KEY,
  resource TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('messages', 'observations', 'generation')),
  thread TEXT NOT NULL,
  at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  archived_at INTEGER NOT NULL,
  size INTEGER NOT NULL,
  length INTEGER NOT NULL,
  languages TEXT NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  body TEXT NOT NULL,
  segment BLOB NOT NULL,
  UNIQUE (resource, name, revision)
)

CREATE INDEX om_entries_expiry ON om_entries (expires_at)

CREATE INDEX om_entries_times ON om_entries (resource, kind, first_at, last_at, size)

CREATE TABLE om_fences (resource TEXT PRIMARY KEY, fence INTEGER NOT NULL) WITHOUT ROWID

-- terms come ready made, with a blank between two: whatever else is in one belongs to it
CREATE VIRTUAL TABLE om_words USING fts5 (
  words, detail = none, columnsize = 0,
  tokenize = "ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
)

CREATE TRIGGER om_entries_gone AFTER DELETE ON om_entries WHEN old.kind = 'messages' BEGIN
  DELETE FROM om_words WHERE rowid = old.id;
END

CREATE VIEW om_members AS
SELECT
  e.resource, e.name, e.kind, e.thread, pair.key AS place,
  json_extract(pair.value, '$[0]') AS score,
  json_extract(pair.value, '$[1]') AS member
FROM om_entries e, json_each(e.body) pair
WHERE json_type(pair.value, '$[1]') = 'object' AND NOT EXISTS (
  SELECT 1 FROM om_entries newer WHERE newer.resource = e.resource AND newer.name = e.name AND newer.revision > e.revision
)

CREATE VIEW om_messages AS
SELECT
  resource, thread, substr(name, instr(name, ':') + 1) AS observation, place, CAST(score AS INTEGER) AS at,
  json_extract(member, '$.id') AS id, json_extract(member, '$.role') AS role, json_extract(member, '$.content') AS content,
  member
FROM om_members
WHERE kind = 'messages'

CREATE VIEW om_observations AS
SELECT
  resource, thread AS memory, CAST(substr(name, instr(name, ':') + 1) AS INTEGER) AS generation, score AS seq,
  json_extract(member, '$.id') AS id, json_extract(member, '$.thread_id') AS thread,
  json_extract(member, '$.priority') AS priority, json_extract(member, '$.text') AS text,
  json_extract(member, '$.from') AS from_at, json_extract(member, '$.to') AS to_at,
  json_extract(member, '$.created_at') AS created_at, member
FROM om_members
WHERE kind = 'observations'

CREATE VIEW om_generations AS
SELECT
  resource, thread AS memory, CAST(score AS INTEGER) AS n, json_extract(member, '$.origin') AS origin,
  json_extract(member, '$.text') AS text, json_extract(member, '$.created_at') AS created_at, member
FROM om_members
WHERE kind = 'generation'

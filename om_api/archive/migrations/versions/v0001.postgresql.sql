CREATE TABLE om_entries (
  resource text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  kind text NOT NULL CHECK (kind IN ('messages', 'observations', 'generation')),
  thread text NOT NULL,
  at bigint NOT NULL,
  expires_at bigint NOT NULL,
  revision integer NOT NULL,
  archived_at bigint NOT NULL,
  size integer NOT NULL,
  length integer NOT NULL,
  languages text NOT NULL,
  first_at bigint NOT NULL,
  last_at bigint NOT NULL,
  body text NOT NULL,
  segment bytea NOT NULL,
  words tsvector,
  PRIMARY KEY (resource, name, revision)
)

-- a segment is compressed already; of bodies and words nobody asks how often which is there
ALTER TABLE om_entries
  ALTER COLUMN segment SET STORAGE EXTERNAL,
  ALTER COLUMN body SET STATISTICS 0,
  ALTER COLUMN segment SET STATISTICS 0,
  ALTER COLUMN words SET STATISTICS 0

-- faster than pglz, where the server was built with it
DO $$
BEGIN
  IF 'lz4' = ANY (SELECT unnest(enumvals) FROM pg_settings WHERE name = 'default_toast_compression') THEN
    ALTER TABLE om_entries ALTER COLUMN body SET COMPRESSION lz4, ALTER COLUMN words SET COMPRESSION lz4;
  END IF;
END $$

CREATE INDEX om_entries_expiry ON om_entries (expires_at)

CREATE INDEX om_entries_times ON om_entries (resource, kind, first_at, last_at, size)

-- words that wait are sorted in at once, 16 MB of them: twice as fast as 4 MB, and looking through them takes some ms
CREATE INDEX om_entries_words ON om_entries USING gin (words) WITH (gin_pending_list_limit = 16384)

CREATE TABLE om_fences (resource text COLLATE "C" PRIMARY KEY, fence bigint NOT NULL)

-- Only what json_array_elements gives is sure to be read: -> fails on \u0000 anywhere in its value, and the query with it. So a
-- member is cut from its pair as text, and its fields are there unless it holds that.
CREATE VIEW om_members AS
SELECT
  e.resource, e.name, e.kind, e.thread, pair.place - 1 AS place,
  split_part(substr(pair.value::text, 2), ',', 1)::float8 AS score,
  cut.member, read.fields
FROM om_entries e
CROSS JOIN LATERAL json_array_elements(e.body::json) WITH ORDINALITY AS pair (value, place)
CROSS JOIN LATERAL (
  SELECT substr(pair.value::text, strpos(pair.value::text, ',') + 1, length(pair.value::text) - strpos(pair.value::text, ',') - 1)
) AS cut (member)
CROSS JOIN LATERAL (
  SELECT CASE WHEN strpos(cut.member, '\u0000') = 0 THEN cut.member::json END OFFSET 0
) AS read (fields)
WHERE cut.member LIKE '{' || chr(37) AND NOT EXISTS (
  SELECT 1 FROM om_entries newer WHERE newer.resource = e.resource AND newer.name = e.name AND newer.revision > e.revision
)

CREATE VIEW om_messages AS
SELECT
  resource, thread, substr(name, strpos(name, ':') + 1) AS observation, place, score::bigint AS at,
  fields ->> 'id' AS id, fields ->> 'role' AS role, fields ->> 'content' AS content, member
FROM om_members
WHERE kind = 'messages'

CREATE VIEW om_observations AS
SELECT
  resource, thread AS memory, substring(name from '^[a-z]+:([0-9]+)')::integer AS generation, score AS seq,
  fields ->> 'id' AS id, fields ->> 'thread_id' AS thread,
  (fields ->> 'priority')::integer AS priority, fields ->> 'text' AS text,
  (fields ->> 'from')::bigint AS from_at, (fields ->> 'to')::bigint AS to_at,
  (fields ->> 'created_at')::bigint AS created_at, member
FROM om_members
WHERE kind = 'observations'

CREATE VIEW om_generations AS
SELECT
  resource, thread AS memory, score::integer AS n, fields ->> 'origin' AS origin,
  fields ->> 'text' AS text, (fields ->> 'created_at')::bigint AS created_at, member
FROM om_members
WHERE kind = 'generation'

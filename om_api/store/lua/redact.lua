-- redact(key, known, record, segment; epoch, n, [was, becomes]..., [was, becomes]...)
-- uses ids
-- Puts what was redacted in the place of what was said: members of a sorted set or a list, a string, or fields of a hash, which are
-- named by what stands before the first line's end. The first `n` pairs are of `key`; the others are records of the ids of messages
-- among them, which say what these say now. The segment that was made of the old words goes, and a record that has an epoch has
-- `epoch` now, so that no reader keeps them. Nothing is covered by anything else than before, and counters stay.
-- Time 0: a raw message is read. Time 1: it is sealed. Time 2: it is not where it was read, and nothing changes; it is read again.
-- Returns 'redacted', or 'superseded' when anything is not as it was read.
local key, known, record, segment = unpack(KEYS, 1, 4)
local epoch, n = ARGV[1], tonumber(ARGV[2])

if n < 0 or 2 * n > #ARGV - 2 then
  return redis.error_reply('ERR redact: there are not so many pairs')
end
local kind, first = redis.call('TYPE', key)['ok'], 3 + 2 * n
for slot = 3, first - 1, 2 do
  local was, found = ARGV[slot], false
  if kind == 'zset' then
    found = redis.call('ZSCORE', key, was)
  elseif kind == 'list' then
    found = redis.call('LPOS', key, was)
  elseif kind == 'string' then
    found = redis.call('GET', key) == was
  elseif kind == 'hash' then
    local ends = string.find(was, '\n', 1, true)
    found = redis.call('HGET', key, string.sub(was, 1, ends - 1)) == string.sub(was, ends + 1)
  end
  if not found then
    return 'superseded'
  end
end
local records = {}
for slot = first, #ARGV, 2 do
  records[#records + 1] = ARGV[slot + 1]
end
local set = #records > 0 and ids.open(known, records)
for slot = first, #ARGV, 2 do
  if set.alias or (ids.find(set, string.sub(ARGV[slot + 1], 1, 7)) or '') ~= ARGV[slot] then
    return 'superseded'
  end
end

for slot = 3, first - 1, 2 do
  local was, becomes = ARGV[slot], ARGV[slot + 1]
  if kind == 'zset' then
    redis.call('ZADD', key, redis.call('ZSCORE', key, was), becomes) -- before the other goes, or its lifetime might
    redis.call('ZREM', key, was)
  elseif kind == 'list' then
    redis.call('LSET', key, redis.call('LPOS', key, was), becomes)
  elseif kind == 'string' then
    redis.call('SET', key, becomes, 'KEEPTTL')
  else
    redis.call('HSET', key, string.sub(was, 1, string.find(was, '\n', 1, true) - 1), becomes)
  end
end
for i = 1, #records do
  ids.put(set, records[i])
end
if set then
  ids.save(set)
end
redis.call('UNLINK', segment)
if redis.call('HEXISTS', record, 'epoch') == 1 then
  redis.call('HSET', record, 'epoch', epoch)
  redis.call('HDEL', record, 'indexed')
end
return 'redacted'

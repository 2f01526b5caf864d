-- archive(archived, hold, [key, segment, lister]...; ttl, holder, last, until, [name, revision, n, members, [member]...]...)
-- Drops from Redis what was written to the archive and read back, in the same step in which `archived` names it with its revision.
-- Each is a whole sorted set of so many `members` (n is ''), with the index of its words and what lists it (which lives `ttl` seconds
-- at least), or the generation n: then `lister` is the record.
-- Time 0: a worker reads a source. Time 1: an owner erases a message of it. Time 2: the worker has written what it read, and read it
-- back. What stands here is no longer that: nothing is dropped, and nobody reads what was written.
-- `hold` says who holds the resource, each until when, and who did so `last`: where that is another than before anything was written, or
-- anybody but `holder` still does, everything stays; and after `until` (server ms), when what was seen of it may have expired.
-- Returns for each 1 where it was dropped, 0 where it stays.
local archived, hold = KEYS[1], KEYS[2]
local ttl, holder, last, until_ = unpack(ARGV, 1, 4)

local items, dropped, slot = {}, {}, 5
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local held = now > tonumber(until_) or (redis.call('HGET', hold, 'last') or '') ~= last
local holders = redis.call('HGETALL', hold)
for i = 1, #holders, 2 do
  held = held or holders[i] ~= 'last' and holders[i] ~= holder and tonumber(holders[i + 1]) > now
end
redis.call('ZCARD', archived)
for k = 3, #KEYS, 3 do
  local key, segment, lister = unpack(KEYS, k, k + 2)
  local name, revision, n, count = unpack(ARGV, slot, slot + 3)
  local first = slot + 4
  slot = first + tonumber(count)
  local as_read
  if n ~= '' then
    local in_force = tonumber(redis.call('HGET', lister, 'generation') or '') or 0
    as_read = tonumber(n) < in_force and tonumber(redis.call('ZSCORE', key, ARGV[first]) or '') == tonumber(n)
  else
    local members = redis.call('ZRANGE', key, 0, -1)
    as_read = #members > 0 and #members == tonumber(count)
    for i, member in ipairs(members) do
      as_read = as_read and member == ARGV[first + i - 1]
    end
  end
  dropped[#dropped + 1] = as_read and not held and 1 or 0
  items[#items + 1] = {name = name, revision = revision, n = n, member = ARGV[first], key = key, segment = segment, lister = lister}
end

for i, item in ipairs(items) do
  if dropped[i] == 1 then
    redis.call('ZADD', archived, item.revision, item.name)
    if item.n ~= '' then
      redis.call('ZREM', item.key, item.member)
    else
      redis.call('UNLINK', item.key, item.segment)
      local lives = redis.call('TTL', item.lister)
      if lives >= 0 and lives < tonumber(ttl) then
        redis.call('EXPIRE', item.lister, ttl)
      end
    end
  end
end
return dropped

-- adopt(messages, tokens, known, rejected, threads; thread, card, count, weight, fresh_key, n, [was, becomes]..., [member, verb, what, score, tokens]...)
-- uses ids
-- Counts what plain ZADDs left in messages, as the caller judged it by what is known of every id. Each raw member is named with
-- what becomes of it: `keep` (`score` when it must be repaired), `turn` (`what` stands in its place), `drop` (its message is kept
-- already), or `reject` (`what` is the entry for the quarantine). `n` records must be as they were read ('' = none), and become
-- what they are to be.
-- Time 0: a member is read, whose id is known of a raw message. Time 1: that one is sealed. Time 2: this member is not the one
-- that is counted, but a copy of it; its record is not as it was read any more, and nothing changes.
-- Members of a thread that leaves no memory (`*memory:` is off or read_only) are counted for their thread alone.
-- Returns 'superseded' when anything is no longer as it was read, and for what is an alias by now, else {kept, dropped, rejected, tokens}.
local messages, tokens, known, rejected, threads = unpack(KEYS, 1, 5)
local thread, card, count, weight, fresh, n = unpack(ARGV, 1, 6)

local first = 7 + 2 * tonumber(n)
local counts = redis.call('HMGET', tokens, '#' .. thread, thread, '*', '*memory:' .. thread)
if redis.call('ZCARD', messages) ~= tonumber(card) or (counts[1] or '0') ~= count or (counts[2] or '0') ~= weight
    or (#ARGV - first + 1) / 5 ~= tonumber(card) then
  return 'superseded'
end
local records = {}
for slot = 7, first - 1, 2 do
  records[#records + 1] = ARGV[slot + 1]
end
local set = ids.open(known, records)
if set.alias then
  return 'superseded'
end
for slot = 7, first - 1, 2 do
  if (ids.find(set, string.sub(ARGV[slot + 1], 1, 7)) or '') ~= ARGV[slot] then
    return 'superseded'
  end
end
for slot = first, #ARGV, 5 do
  if not redis.call('ZSCORE', messages, ARGV[slot]) then
    return 'superseded'
  end
end
redis.call('LLEN', rejected)
redis.call('ZCARD', threads)

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local kept, dropped, refused, sum, last = 0, 0, 0, 0, 0
for slot = first, #ARGV, 5 do
  local member, verb, what, score, size = unpack(ARGV, slot, slot + 4)
  if verb == 'keep' or verb == 'turn' then
    score = score ~= '' and score or redis.call('ZSCORE', messages, member)
    kept, sum, last = kept + 1, sum + tonumber(size), math.max(last, tonumber(score))
  end
  if verb ~= 'keep' then
    redis.call('ZREM', messages, member)
  end
  if verb == 'drop' then
    dropped = dropped + 1
  elseif verb == 'reject' then
    refused = refused + 1
    redis.call('RPUSH', rejected, what)
  else
    redis.call('ZADD', messages, score, verb == 'turn' and what or member)
  end
end
local head
for i = 1, #records do
  head = ids.find(set, string.sub(records[i], 1, 7)) and head or string.sub(records[i], 1, 7)
  ids.put(set, records[i])
end
if #records > 0 then
  ids.save(set, head)
end
if kept > 0 then
  redis.call('HSET', tokens, thread, string.format('%d', sum), '#' .. thread, kept)
  redis.call('HSETNX', tokens, '*key', fresh)
  if kept > (tonumber(counts[1] or '') or 0) then -- a message brings an archived thread back
    redis.call('HDEL', tokens, '*away:' .. thread)
  end
  redis.call('ZADD', threads, 'GT', string.format('%d', math.min(last, now)), thread)
else
  redis.call('HDEL', tokens, thread, '#' .. thread)
end
if kept > 0 and not counts[3] then -- the first message of a resource: nothing was accepted that is not known
  redis.call('HSET', tokens, '*ids', '1')
end
if kept > 0 or counts[3] then
  local leaves_none = counts[4] == 'off' or counts[4] == 'read_only'
  local total = (tonumber(counts[3]) or 0) + (leaves_none and 0 or sum - (tonumber(counts[2]) or 0))
  redis.call('HSET', tokens, '*', string.format('%d', math.max(total, 0)))
end
return {kept, dropped, refused, string.format('%d', sum)}

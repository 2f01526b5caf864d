-- amend(messages, tokens, known; thread, old, member, score, weight, [was, becomes]...)
-- uses ids
-- Keeps more of a message that is known: `member` stands in the place of `old`, whose tokens are counted with `weight` more, or is
-- a further message of its own ('' = no old). The records of the ids that this is about must be as they were read ('' = none).
-- Time 0: a client reads that m-1 is raw. Time 1: a worker seals it. Time 2: the client has it grow; its old form is no longer among
-- the raw, nothing changes, and the client looks again.
-- Returns 'superseded', or {tokens that are unsealed of the thread and of all, wake of the resource and of the thread}; {} of a thread that
-- leaves no memory (`*memory:` is off or read_only), whose tokens count for itself alone and make nothing due.
local messages, tokens, known = unpack(KEYS, 1, 3)
local thread, old, member, score, weight = unpack(ARGV, 1, 5)

local records = {}
for slot = 6, #ARGV, 2 do
  records[#records + 1] = ARGV[slot + 1]
end
local set = ids.open(known, records)
if set.alias then
  return 'superseded'
end
for slot = 6, #ARGV, 2 do
  if (ids.find(set, string.sub(ARGV[slot + 1], 1, 7)) or '') ~= ARGV[slot] then
    return 'superseded'
  end
end
local at = redis.call('ZSCORE', messages, old)
if (old ~= '' and not at) or (member ~= old and redis.call('ZSCORE', messages, member)) then
  return 'superseded'
end
local counts = redis.call('HMGET', tokens, thread, '#' .. thread, '*', '*wake', '*wake:' .. thread, '*memory:' .. thread)

if old ~= '' then
  redis.call('ZREM', messages, old)
end
redis.call('ZADD', messages, at or score, member)
for i = 1, #records do
  ids.put(set, records[i])
end
ids.save(set)
local own = math.max((tonumber(counts[1]) or 0) + weight, 0)
local leaves_none = counts[6] == 'off' or counts[6] == 'read_only'
local all = math.max((tonumber(counts[3]) or 0) + (leaves_none and 0 or weight), 0)
local count = (tonumber(counts[2]) or 0) + (old == '' and 1 or 0)
redis.call('HSET', tokens, thread, string.format('%d', own), '#' .. thread, count, '*', string.format('%d', all))
if leaves_none then
  return {}
end
return {string.format('%d', own), string.format('%d', all), counts[4] or '', counts[5] or ''}

-- learn(known, tokens; complete, records, [day, ms]...)
-- uses ids
-- Has a thread know the ids of messages that were accepted before ids were kept: those that it does not know yet. `ms` is when
-- the last chunk that was sealed on `day` was activated; `complete` is '1' behind the last thread of a resource.
-- Time 0: a worker reads a message as raw. Time 1: another one seals it, which makes it known as sealed. Time 2: the first one
-- has it learned; it is known already, and stays what it is. What became an alias meanwhile learns nothing.
-- Returns how many were learned.
local known, tokens, complete, records = KEYS[1], KEYS[2], ARGV[1], ids.listed(ARGV[2])

local set, learned = ids.open(known, records), 0
redis.call('HLEN', tokens)
for i = 1, #records do
  if not set.alias and not ids.find(set, string.sub(records[i], 1, 7)) then
    ids.put(set, records[i])
    learned = learned + 1
  end
end
if learned > 0 then
  ids.save(set)
end
for slot = 3, set.alias and 2 or #ARGV, 2 do
  local field, was = 'd' .. ARGV[slot], tonumber(redis.call('HGET', known, 'd' .. ARGV[slot]) or '') or 0
  redis.call('HSET', known, field, string.format('%d', math.max(was, tonumber(ARGV[slot + 1]))))
end
if complete == '1' and redis.call('HEXISTS', tokens, '*') == 1 then
  redis.call('HSET', tokens, '*ids', 1)
end
return learned

-- reflect(record, observations, reflections, reflected, draft; epoch, generation, pinned, proposed, id, next, tokens, moved_tokens, keep, ttl, origin, [seq, member, becomes]...)
-- Makes the next generation (`origin`) of the named observations and the current generation. The named ones move, whole, to the
-- history of this generation; everything else stays. What is set aside goes there under the name of its group: as what it `becomes`
-- ('' = as it is). That history lives `ttl` seconds (0 = as long as the memory).
-- Time 0: the Reflector reads generation 4 and starts thinking. Time 9: an activation appends "new fact". Time 12: this commit
-- replaces what was read, "new fact" stays. Had another reflector committed generation 5 meanwhile, nothing would change.
-- Time 0: it reads what is pinned. Time 9: somebody pins a line of what it replaces. Time 12: that line must be in the text, so what
-- is `pinned` must be as it was read; whoever commits puts it in, asks no model again, and commits anew.
-- Of a draft that waits for its review `proposed` names the review: what was sent back meanwhile is not approved.
-- Observations are named by their bytes as well as by seq: a server that lost its last second draws the same seq for another one.
-- Returns 'reflected' or 'superseded'.
local record, observations, reflections, reflected, draft = unpack(KEYS, 1, 5)
local epoch, generation, pinned, proposed, id, next_, tokens, moved, keep, ttl, origin = unpack(ARGV, 1, 11)

local version = redis.call('HMGET', record, 'epoch', 'generation', 'reflection', 'pins', 'proposed')
if version[1] ~= epoch then
  return 'superseded'
end
if version[3] == id then
  return 'reflected'
end
local unread = (version[4] or '') ~= pinned or (version[5] or '') ~= proposed
if version[2] ~= generation or unread or #ARGV == 11 then
  return 'superseded'
end
local members = {}
for i = 12, #ARGV, 3 do
  if tonumber(redis.call('ZSCORE', observations, ARGV[i + 1]) or '') ~= tonumber(ARGV[i]) then
    return 'superseded'
  end
  members[#members + 1] = {ARGV[i], ARGV[i + 1], ARGV[i + 2]}
end
redis.call('ZCARD', reflections)
redis.call('ZCARD', reflected)

local time = redis.call('TIME')
local now = string.format('%d', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
for _, entry in ipairs(members) do
  redis.call('ZADD', reflected, entry[1], entry[3] ~= '' and entry[3] or entry[2])
  redis.call('ZREM', observations, entry[2])
end
if tonumber(ttl) > 0 then
  redis.call('EXPIRE', reflected, tonumber(ttl))
end
redis.call('ZADD', reflections, tonumber(generation) + 1, next_)
redis.call('ZREMRANGEBYRANK', reflections, 0, -(tonumber(keep) + 1))
redis.call('HSET', record, 'generation', tonumber(generation) + 1, 'origin', origin, 'reflection', id, 'reflection_tokens', tokens, 'reflected_at', now, 'updated_at', now)
redis.call('HINCRBY', record, 'observation_tokens', string.format('%d', -tonumber(moved)))
redis.call('HINCRBY', record, 'observation_count', string.format('%d', -#members))
redis.call('HDEL', record, 'drain', 'proposed', 'proposed_at', 'proposed_until')
redis.call('UNLINK', draft)
return 'reflected'

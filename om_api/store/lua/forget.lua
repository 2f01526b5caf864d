-- forget(record, observations, source, segment, draft, rejected, known; epoch, seq, tokens, pinned, pins, [entry]...)
-- Removes one observation, the messages behind it, their index and what the quarantine says of them, because its owner says so. The record's seq moves on: a migration that
-- read the observation must not bring it back. What was pinned of it, and stands nowhere else, is no longer (`pins`, '' = nothing).
-- Returns 'cleared', or 'superseded' when it is not (or no longer) among the observations, or what is pinned is not as it was read.
local record, observations, source, segment, draft, rejected, known = unpack(KEYS, 1, 7)
local epoch, seq, tokens, pinned, pins = unpack(ARGV, 1, 5)

local version = redis.call('HMGET', record, 'epoch', 'pins')
if version[1] ~= epoch or (version[2] or '') ~= pinned or redis.call('ZCOUNT', observations, seq, seq) ~= 1 then
  return 'superseded'
end
redis.call('LLEN', rejected)
if redis.call('HEXISTS', known, '#') == 1 then
  redis.call('HSET', known, '~', 1)
end
redis.call('ZREMRANGEBYSCORE', observations, seq, seq)
for slot = 6, #ARGV do
  redis.call('LREM', rejected, 0, ARGV[slot])
end
redis.call('UNLINK', source, segment, draft)
redis.call('HINCRBY', record, 'observation_tokens', string.format('%d', -tonumber(tokens)))
if pins ~= pinned then
  redis.call('HDEL', record, 'pins')
  if pins ~= '' then
    redis.call('HSET', record, 'pins', pins)
  end
end
redis.call('HINCRBY', record, 'observation_count', -1)
redis.call('HINCRBY', record, 'seq', 1)
return 'cleared'

-- forget(record, observations, source, segment, draft, rejected, known; epoch, seq, tokens, [entry]...)
-- Removes one observation, the messages behind it, their index and what the quarantine says of them, because its owner says so. The record's seq moves on: a migration that
-- read the observation must not bring it back.
-- Returns 'cleared', or 'superseded' when it is not (or no longer) among the observations.
local record, observations, source, segment, draft, rejected, known = unpack(KEYS, 1, 7)
local epoch, seq, tokens = unpack(ARGV, 1, 3)

if redis.call('HGET', record, 'epoch') ~= epoch or redis.call('ZCOUNT', observations, seq, seq) ~= 1 then
  return 'superseded'
end
redis.call('LLEN', rejected)
if redis.call('HEXISTS', known, '#') == 1 then
  redis.call('HSET', known, '~', 1)
end
redis.call('ZREMRANGEBYSCORE', observations, seq, seq)
for slot = 4, #ARGV do
  redis.call('LREM', rejected, 0, ARGV[slot])
end
redis.call('UNLINK', source, segment, draft)
redis.call('HINCRBY', record, 'observation_tokens', string.format('%d', -tonumber(tokens)))
redis.call('HINCRBY', record, 'observation_count', -1)
redis.call('HINCRBY', record, 'seq', 1)
return 'cleared'

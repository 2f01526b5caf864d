-- buffer(chunk, rejected, segment; by, observation, tokens, entry, words)
-- Stores a chunk's observation: sealed -> ready. Time 0: two workers observe one chunk. Time 5: the first stores its result.
-- Time 6: the second is told 'superseded'; what the chunk says never changes once it is ready. `entry` goes to the quarantine
-- in the same step when the observation is a placeholder for messages that cannot be observed. `words` are the index of what the
-- chunk covers ('' = there is none, and whoever recalls reads the messages): nothing is observed without being findable.
-- Returns 'buffered' or 'superseded'.
local chunk, rejected, segment, by, observation, tokens, entry, words = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local now = redis.call('HMGET', chunk, 'state', 'by')
if now[1] ~= 'sealed' then
  return now[2] == by and 'buffered' or 'superseded'
end
redis.call('LLEN', rejected)
redis.call('HSET', chunk, 'state', 'ready', 'observation', observation, 'observation_tokens', tokens, 'by', by)
if words ~= '' then
  redis.call('SET', segment, words)
end
if entry ~= '' then
  redis.call('RPUSH', rejected, entry)
end
return 'buffered'

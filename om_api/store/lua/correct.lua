-- correct(record, observations, draft; epoch, fresh_epoch, seq, was, becomes, weight, pinned, pins)
-- Puts an observation that says something else in the place of one in force; a pinned line of it is pinned as it reads now. The
-- draft was made of the old words and goes. The record has a new epoch, so that no reader keeps the old words, and:
-- Time 0: a Reflector reads a wrong line. Time 5: somebody corrects it. Time 9: the reflection that holds the wrong line is refused.
-- Returns 'corrected', or 'superseded' when the observation, or what is pinned, is not as it was read.
local record, observations, draft = unpack(KEYS, 1, 3)
local epoch, fresh, seq, was, becomes, weight, pinned, pins = unpack(ARGV, 1, 8)

local version = redis.call('HMGET', record, 'epoch', 'pins')
if version[1] == fresh then
  return 'corrected'
end
if version[1] ~= epoch or (version[2] or '') ~= pinned or tonumber(redis.call('ZSCORE', observations, was) or '') ~= tonumber(seq) then
  return 'superseded'
end
redis.call('ZADD', observations, seq, becomes)
redis.call('ZREM', observations, was)
redis.call('HSET', record, 'epoch', fresh)
if pins ~= pinned then
  redis.call('HSET', record, 'pins', pins)
end
redis.call('HINCRBY', record, 'observation_tokens', weight)
redis.call('HINCRBY', record, 'seq', 1)
redis.call('UNLINK', draft)
return 'corrected'

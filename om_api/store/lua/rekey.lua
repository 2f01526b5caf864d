-- rekey(keys; id, was, now)
-- Gives an API key another secret, unless it was revoked or changed since it was read.
-- Returns 'rest' or 'superseded'.
local keys, id, was, now = KEYS[1], ARGV[1], ARGV[2], ARGV[3]

if redis.call('HGET', keys, id) ~= was then
  return 'superseded'
end
redis.call('HSET', keys, id, now)
return 'rest'

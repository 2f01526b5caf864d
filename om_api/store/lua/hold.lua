-- hold(holders; token, most, lease_ms)
-- Takes one of a model's places for calls at the same time. A place whose worker died is free again when its lease ends.
-- Returns 1, or 0 when all of them are taken.
local holders, token, most, lease_ms = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if redis.call('ZCOUNT', holders, '(' .. now, '+inf') >= most and not redis.call('ZSCORE', holders, token) then
  return 0
end
redis.call('ZREMRANGEBYSCORE', holders, '-inf', now)
redis.call('ZADD', holders, now + lease_ms, token)
if redis.call('PTTL', holders) < lease_ms then
  redis.call('PEXPIRE', holders, lease_ms)
end
return 1

-- breaker_enter(breaker, holders, alone; token, lease_ms, most)
-- Asks whether a model may be called, and takes a place among the calls in flight if so: one of `most` ('' = any number), and of
-- as many as the provider lets through (`room`, see breaker_report). The place of a worker that died is free when its lease ends.
-- `breaker` is that of the model, `alone` that of the agent that the call is made for. Time 0: it failed too often, and whoever it
-- counts for waits. Time 1: the pause is over; the first who comes is the probe, everybody else goes on waiting. Should the probe's
-- worker die, its lease ends and the next one is the probe.
-- A pause longer than any was begun before the server's clock was set back: it is over.
-- Returns {'closed', 0}, {'probe', 0}, {'full', 0}, {'open', ms to wait} or {'busy', ms to wait}: the provider said how long.
local breaker, holders, alone = KEYS[1], KEYS[2], KEYS[3]
local token, lease_ms, most = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local REMEMBERED_MS, PROBING_MS, LONGEST_MS = 86400000, 5000, 600000

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local got = redis.call('HMGET', breaker, 'busy', 'room')
local busy = tonumber(got[1]) or 0
local places = math.min(most or math.huge, tonumber(got[2]) or math.huge)
if busy > now and busy <= now + LONGEST_MS then
  return {'busy', busy - now}
end
local opened = {}
for _, key in ipairs({breaker, alone}) do
  local state = redis.call('HMGET', key, 'until', 'probing')
  local open, probing = tonumber(state[1]) or 0, tonumber(state[2]) or 0
  if open > now and open <= now + LONGEST_MS then
    return {'open', open - now}
  elseif probing > now then
    return {'open', math.min(probing - now, PROBING_MS)}
  elseif open > 0 then
    table.insert(opened, key)
  end
end
if redis.call('ZCOUNT', holders, '(' .. now, '+inf') + 1 > places and not redis.call('ZSCORE', holders, token) then
  return {'full', 0}
end
redis.call('ZREMRANGEBYSCORE', holders, '-inf', now)
redis.call('ZADD', holders, now + lease_ms, token)
if redis.call('PTTL', holders) < lease_ms then
  redis.call('PEXPIRE', holders, lease_ms)
end
for _, key in ipairs(opened) do
  redis.call('HSET', key, 'probe', token, 'probing', now + lease_ms)
  redis.call('PEXPIRE', key, REMEMBERED_MS)
end
return {#opened > 0 and 'probe' or 'closed', 0}

-- breaker_enter(breaker; token, lease_ms)
-- Asks whether a model may be called. Time 0: it has failed too often and is left alone. Time 1: the pause is over; the first who
-- comes is the probe, everybody else goes on waiting. Should the probe's worker die, its lease ends and the next one is the probe.
-- A pause longer than any was begun before the server's clock was set back: it is over.
-- Returns {'closed', 0}, {'probe', 0}, {'open', ms to wait} or {'busy', ms to wait}: the provider said itself how long.
local breaker, token, lease_ms = KEYS[1], ARGV[1], tonumber(ARGV[2])
local REMEMBERED_MS, PROBING_MS, LONGEST_MS = 86400000, 5000, 600000

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local got = redis.call('HMGET', breaker, 'busy', 'until', 'probing')
local busy, open, probing = tonumber(got[1]) or 0, tonumber(got[2]) or 0, tonumber(got[3]) or 0
if busy > now and busy <= now + LONGEST_MS then
  return {'busy', busy - now}
elseif open == 0 then
  return {'closed', 0}
elseif open > now and open <= now + LONGEST_MS then
  return {'open', open - now}
elseif probing > now then
  return {'open', math.min(probing - now, PROBING_MS)}
end
redis.call('HSET', breaker, 'probe', token, 'probing', now + lease_ms)
redis.call('PEXPIRE', breaker, REMEMBERED_MS)
return {'probe', 0}

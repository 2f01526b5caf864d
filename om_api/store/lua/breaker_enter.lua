-- breaker_enter(breaker, holders, alone, own_holders; token, lease_ms, most, resource)
-- Asks whether a model may be called, and takes a place among the calls in flight if so: one of `most` ('' = any number), and of
-- as many as the provider lets through (`room`, see breaker_report), to all agents and to this one. Where that is a single place,
-- agents take turns: one that finds it taken, and did not have it last (`had`), is the next (`turn`) for two seconds. The place of a worker that died is free when its lease ends.
-- `breaker` is that of the model, `alone` that of the agent that the call is made for. Time 0: it failed too often, and whoever it
-- counts for waits. Time 1: the pause is over; the first who comes is the probe, everybody else goes on waiting. Should the probe's
-- worker die, its lease ends and the next one is the probe.
-- A pause longer than any was begun before the server's clock was set back: it is over.
-- Returns {'closed', 0}, {'probe', 0}, {'full', 0}, {'open', ms to wait} or {'busy', ms to wait}: the provider said how long.
local breaker, holders, alone, own_holders = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, lease_ms, most, resource = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local REMEMBERED_MS, PROBING_MS, TURN_MS, LONGEST_MS = 86400000, 5000, 2000, 600000

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local room = {}
for _, key in ipairs({breaker, alone}) do
  local state = redis.call('HMGET', key, 'busy', 'room')
  local busy = tonumber(state[1]) or 0
  if busy > now and busy <= now + LONGEST_MS then
    return {'busy', busy - now}
  end
  room[key] = tonumber(state[2]) or math.huge
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

local function is_taken(among, places)
  return redis.call('ZCOUNT', among, '(' .. now, '+inf') + 1 > places and not redis.call('ZSCORE', among, token)
end

if is_taken(own_holders, room[alone]) then
  return {'full', 0}
end
local got = redis.call('HMGET', breaker, 'had', 'turn', 'turn_until')
local single, turn, turn_until = room[breaker] < 2, got[2], tonumber(got[3]) or 0
local promised = turn and turn_until > now and turn_until <= now + TURN_MS
if is_taken(holders, math.min(most or math.huge, room[breaker])) then
  if single and got[1] ~= resource and not (promised and turn ~= resource) then
    redis.call('HSET', breaker, 'turn', resource, 'turn_until', now + TURN_MS)
  end
  return {'full', 0}
elseif single and promised and turn ~= resource and not redis.call('ZSCORE', holders, token) then
  return {'full', 0}
end
if single then
  redis.call('HSET', breaker, 'had', resource)
  redis.call('HDEL', breaker, 'turn', 'turn_until')
end
for _, among in ipairs({holders, own_holders}) do
  redis.call('ZREMRANGEBYSCORE', among, '-inf', now)
  redis.call('ZADD', among, now + lease_ms, token)
  if redis.call('PTTL', among) < lease_ms then
    redis.call('PEXPIRE', among, lease_ms)
  end
end
for _, key in ipairs(opened) do
  redis.call('HSET', key, 'probe', token, 'probing', now + lease_ms)
  redis.call('PEXPIRE', key, REMEMBERED_MS)
end
return {#opened > 0 and 'probe' or 'closed', 0}

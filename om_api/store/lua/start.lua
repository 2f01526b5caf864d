-- start(due, queued, slow; scope, lease)
-- Begins the task of a scope that was handed out with `lease`: it stands in the queue no longer.
-- Time 0: a task waits until its lease is over. Time 1: the scope is handed out anew. Time 2: either task begins, and does what
-- is due. Time 3: the other one finds the scope neither queued nor on its own lease, and has nothing to do.
-- Nor has one whose scope was put off meanwhile, or taken by a look: it is due again when that is over, or marked.
-- Returns 'started', 'slow' for a scope that was taken as one that is, or 'superseded'.
local due, queued, slow, scope, lease = KEYS[1], KEYS[2], KEYS[3], ARGV[1], tonumber(ARGV[2])

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local place = tonumber(redis.call('ZSCORE', queued, scope) or '')
local at = tonumber(redis.call('ZSCORE', due, scope) or '') or now
redis.call('ZREM', queued, scope)
if at == lease or (place and (at <= now or at == place)) then
  return redis.call('ZSCORE', slow, scope) and 'slow' or 'started'
end
return 'superseded'

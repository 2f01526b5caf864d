-- done(due; scope, lease, later)
-- Takes a scope off the due index, or puts it at its idle deadline `later` ('' = none).
-- Time 0: a worker's last look finds nothing to do. Time 1: a push marks the scope due. Time 2: the worker says done; the score
-- is no longer its lease, so the mark stays.
-- Returns 'rest' or 'superseded'.
local due, scope, lease, later = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3]

if tonumber(redis.call('ZSCORE', due, scope) or '') ~= lease then
  return 'superseded'
end
if later == '' then
  redis.call('ZREM', due, scope)
else
  redis.call('ZADD', due, 'XX', later, scope)
end
return 'rest'

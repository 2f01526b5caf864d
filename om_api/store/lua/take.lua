-- take(due; scope, lease_ms, fraction)
-- Has whoever is about to look at a scope hold it, whoever held it before and however it became due: what was marked by now, this
-- look sees. Only the last one to take it can say done, and only while nobody marked the scope since.
-- Returns the new lease, or '' for a scope that is not in the index.
local due, scope, lease_ms, fraction = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3]

if not redis.call('ZSCORE', due, scope) then
  return ''
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local lease = string.format('%.17g', now + lease_ms + fraction)
redis.call('ZADD', due, lease, scope)
return lease

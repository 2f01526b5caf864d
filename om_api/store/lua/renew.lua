-- renew(due; scope, lease, lease_ms, fraction)
-- Extends a lease. Returns the new lease, or 'superseded' when the scope's score is no longer the lease that was set:
-- a push marked it due meanwhile, or it was claimed again.
local due, scope, lease, lease_ms, fraction = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

if tonumber(redis.call('ZSCORE', due, scope) or '') ~= lease then
  return 'superseded'
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local extended = string.format('%.17g', now + lease_ms + fraction)
redis.call('ZADD', due, 'XX', extended, scope)
return extended

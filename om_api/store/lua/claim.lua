-- claim(due; n, lease_ms, fraction)
-- Takes up to n due scopes, lowest first, and postpones each by a lease. The lease ends in the caller's random fraction of a
-- millisecond, so no two are equal, and only its holder can renew it or say done.
-- Returns {now, [scope, lease]...}.
local due, n, lease_ms, fraction = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local lease = string.format('%.17g', now + lease_ms + fraction)
local reply = {now}
for _, name in ipairs(redis.call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, n)) do
  redis.call('ZADD', due, 'XX', lease, name)
  reply[#reply + 1] = name
  reply[#reply + 1] = lease
end
return reply

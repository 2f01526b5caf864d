-- claim(due, queued; n, most, least, lease_ms, fraction, grace_ms)
-- Takes up to n due scopes, lowest first, to be handed out as tasks, and postpones each by a lease. The lease ends in the caller's
-- random fraction of a millisecond, so no two are equal, and only its holder can renew it or say done.
-- `queued` has the scopes whose tasks nobody has begun, each until its lease ends: never more than `most`, and while there is room
-- for fewer than `least` none is taken. One that is marked due meanwhile is not taken again: the look that its task begins with
-- sees why. Who stands there `grace_ms` longer than its lease was lost with its task or its worker; who stands there further ahead
-- than any lease is of a time before the server's clock was set back.
-- Returns {[scope, lease]...}.
local due, queued, n, most, least = KEYS[1], KEYS[2], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local lease_ms, fraction, grace_ms = tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6])

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local lost = now - grace_ms
local far = now + 2 * math.abs(lease_ms)
local waiting = redis.call('ZCOUNT', queued, string.format('(%d', lost), string.format('%d', far))
local room = math.min(n, most - waiting)
local reply = {}
if most - waiting < least then
  return reply
end
local lease = string.format('%.17g', now + lease_ms + fraction)
for _, name in ipairs(redis.call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, room + waiting)) do
  if #reply / 2 >= room then
    break
  end
  local place = tonumber(redis.call('ZSCORE', queued, name) or '') or lost
  if place <= lost or place > far then
    redis.call('ZADD', due, 'XX', lease, name)
    redis.call('ZADD', queued, lease, name)
    reply[#reply + 1] = name
    reply[#reply + 1] = lease
  end
end
if #reply > 0 then
  redis.call('ZREMRANGEBYSCORE', queued, '-inf', string.format('%d', lost))
  redis.call('ZREMRANGEBYSCORE', queued, string.format('(%d', far), '+inf')
  redis.call('PEXPIRE', queued, 20 * math.abs(lease_ms))
end
return reply

-- claim(due, queued, turns, slow; n, most, least, lease_ms, fraction, grace_ms, slow_most, begun, a_task)
-- Takes up to n scopes whose turn it is, to be handed out as tasks, or to be begun at once by who asks (`begun` = 1), and postpones
-- each by a lease. The lease ends in the caller's
-- random fraction of a millisecond, so no two are equal, and only its holder can renew it or say done.
-- `queued` has the scopes whose tasks nobody has begun, each until its lease ends: never more than `most`, and while there is room
-- for fewer than `least` none is taken. Who stands there `grace_ms` longer than its lease was lost with its task or its worker; who
-- stands there further ahead than any lease is of a time before the server's clock was set back.
-- Where a task does `a_task` scopes within a moment, no more are taken than tasks that all who wait need.
-- Of slow scopes no more than `slow_most` are in flight: `slow` has them from when they are taken until their tasks end.
-- Whose time is another one by now, because it was put off, looked at or done, has lost its turn: 10,000 of those are passed by at
-- once, so that thousands of agents that were cleared hold nobody up. Turns are kept while anybody asks for them.
-- Returns {how many are due without a turn, [scope, lease, is it slow]...}.
local due, queued, turns, slow, n, most, least = KEYS[1], KEYS[2], KEYS[3], KEYS[4], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local lease_ms, fraction, grace_ms, slow_most, begun, a_task = tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8] == '1', tonumber(ARGV[9])

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local lost = now - grace_ms
local far = now + 2 * math.abs(lease_ms)
local waiting = redis.call('ZCOUNT', queued, string.format('(%d', lost), string.format('%d', far))
local room = math.min(n, most - waiting, math.ceil((redis.call('ZCARD', turns) + waiting) / a_task) - waiting)
local reply = {redis.call('ZCOUNT', due, '(-5e12', now) + redis.call('ZCOUNT', due, '-inf', '-inf')}
if most - waiting < least then
  redis.call('PEXPIRE', turns, 20 * math.abs(lease_ms))
  return reply
end
local slow_room = slow_most - redis.call('ZCOUNT', slow, now, string.format('%d', far))
local lease = string.format('%.17g', now + lease_ms + fraction)
local function next_of(from, to)
  local first = redis.call('ZRANGEBYSCORE', turns, from, to, 'WITHSCORES', 'LIMIT', 0, 1)
  return first[1], tonumber(first[2] or '')
end
for _ = 1, room + 10000 do
  local name, turn = next_of('-inf', '(5e11')
  local other, later = next_of('5e11', '+inf')
  local is_slow = other and slow_room > 0 and (not name or later - 1000000000000 < turn)
  name = is_slow and other or name
  if not name or (#reply - 1) / 3 >= room then
    break
  end
  if (tonumber(redis.call('ZSCORE', due, name) or '') or 0) < -5000000000000 then
    redis.call('ZADD', due, 'XX', lease, name) -- first: a full server refuses it, and all with it
    if begun then
      redis.call('ZREM', queued, name) -- the place of a task that was lost
    else
      redis.call('ZADD', queued, lease, name)
    end
    if is_slow then
      redis.call('ZADD', slow, lease, name)
      redis.call('PEXPIRE', slow, 20 * math.abs(lease_ms))
      slow_room = slow_room - 1
    end
    reply[#reply + 1] = name
    reply[#reply + 1] = lease
    reply[#reply + 1] = is_slow and '1' or '0'
  end
  redis.call('ZREM', turns, name)
end
redis.call('PEXPIRE', turns, 20 * math.abs(lease_ms))
if #reply > 1 then
  redis.call('ZREMRANGEBYSCORE', queued, '-inf', string.format('%d', lost))
  redis.call('ZREMRANGEBYSCORE', queued, string.format('(%d', far), '+inf')
  redis.call('PEXPIRE', queued, 20 * math.abs(lease_ms))
end
return reply

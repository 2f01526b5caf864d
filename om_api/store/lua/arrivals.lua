-- arrivals(due, turns, queued; n, grace_ms, lease_ms, anywhere)
-- Up to n scopes that are due and have no turn yet, lowest first. One that has a turn stands in `due` at its time less 1e13, which no
-- clock says: what stands there without a turn was written so by somebody else, and has none either. Of many thousands there, some
-- are looked at, from the caller's random fraction of them on: the next call looks at others.
-- Who waits as a task, as `admit` says it, and was marked meanwhile, is passed by: else a thousand of them would hide
-- whoever came due after them.
-- Returns the names.
local due, turns, queued = KEYS[1], KEYS[2], KEYS[3]
local n, grace_ms, lease_ms, anywhere = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

local time = redis.call('TIME')
local now = string.format('%d', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
local reply = redis.call('ZRANGEBYSCORE', due, '-inf', '-inf', 'LIMIT', 0, n)
local lost, far = tonumber(now) - grace_ms, tonumber(now) + 2 * math.abs(lease_ms)
local waiting = redis.call('ZCOUNT', queued, string.format('(%d', lost), string.format('(%d', far))
for _, name in ipairs(redis.call('ZRANGEBYSCORE', due, '(-5e12', now, 'LIMIT', 0, math.max(0, n - #reply) + waiting)) do
  if #reply >= n then
    break
  end
  local place = waiting > 0 and tonumber(redis.call('ZSCORE', queued, name) or '')
  if not place or place <= lost or place >= far then
    reply[#reply + 1] = name
  end
end
local ahead, most = redis.call('ZCOUNT', due, '(-inf', '-5e12'), 10 * n
if ahead > redis.call('ZCARD', turns) then
  local first = redis.call('ZCOUNT', due, '-inf', '-inf')
  first = first + math.floor(math.max(0, ahead - most + 1) * anywhere)
  local last = first + math.min(ahead, most) - 1
  for _, name in ipairs(redis.call('ZRANGE', due, string.format('%d', first), string.format('%d', last))) do
    if #reply >= n then
      break
    end
    if not redis.call('ZSCORE', turns, name) then
      reply[#reply + 1] = name
    end
  end
end
return reply

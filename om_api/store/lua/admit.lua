-- admit(due, queued, turns, shares; capacity, grace_ms, lease_ms, [scope, resource, cost, slow]...)
-- Gives due scopes their turn, so that resources share the workers as they would if each were worked at all the time (a
-- self-clocked fair queue: Golestani, INFOCOM 1994). A resource's clock is when, in seconds of one worker, its last scope would be
-- done; `cost` is what a scope takes of them, divided by its priority. The common clock runs as fast as `capacity` workers share
-- out to those that wait. Who comes new begins where that stands; who has thousands of scopes waits behind their own.
-- A scope that waits as a task has its turn already: that task will see why it is due. What has waited since before is placed as it
-- was then, by a lease at most. Slow ones stand 1e12 further on, so that they can be told from the others.
-- Returns how many have a turn now.
local due, queued, turns, shares = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local capacity, grace_ms, lease_ms = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])

redis.call('ZCARD', due) -- a part that was closed refuses before anything is written
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function head(from, to)
  local first = redis.call('ZRANGEBYSCORE', turns, from, to, 'WITHSCORES', 'LIMIT', 0, 1)
  return tonumber(first[2] or '') or math.huge
end
local was, at = tonumber(redis.call('ZSCORE', shares, '*clock') or '') or 0, tonumber(redis.call('ZSCORE', shares, '*at') or '') or now
local sharing = math.max(1, redis.call('ZCARD', shares) - 2)
local pace = capacity / sharing / 1000
local first = math.min(head('-inf', '(5e11'), head('5e11', '+inf') - 1000000000000)
local clock = math.max(was, math.min(was + math.max(0, now - at) * pace, first < math.huge and first or was))
redis.call('ZADD', shares, string.format('%.17g', clock), '*clock', now, '*at') -- first: a full server refuses it, and all with it
redis.call('ZREMRANGEBYSCORE', shares, '-inf', string.format('(%.17g', clock))

local admitted = 0
for i = 4, #ARGV, 4 do
  local scope, resource, cost, slow = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[i + 3]
  local since = tonumber(redis.call('ZSCORE', due, scope) or '')
  local place = tonumber(redis.call('ZSCORE', queued, scope) or '')
  local waits = place and place > now - grace_ms and place < now + 2 * math.abs(lease_ms)
  if since and since <= now and not waits then
    since = since < -4000000000000 and now or since
    local ahead = math.min(math.max(0, now - since), math.abs(lease_ms)) * pace
    local own = tonumber(redis.call('ZSCORE', shares, resource) or '') or clock - ahead
    local turn = math.max(own, clock - ahead) + cost
    redis.call('ZADD', shares, string.format('%.17g', turn), resource)
    redis.call('ZADD', turns, string.format('%.17g', turn + admitted / 1000000 + (slow == '1' and 1000000000000 or 0)), scope)
    redis.call('ZADD', due, 'XX', string.format('%.17g', since - 10000000000000), scope)
    admitted = admitted + 1
  end
end
redis.call('PEXPIRE', shares, 20 * math.abs(lease_ms))
redis.call('PEXPIRE', turns, 20 * math.abs(lease_ms))
return admitted

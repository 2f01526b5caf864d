-- fan_out(cursor, webhooks, due, [waiting, arrived, deliveries, figures]...; was, to, most, [webhook, n, [id, at, delivery]...]...)
-- Moves the cursor over events, from `was` to `to`, and puts those that webhooks take into what waits for them, in one step: no event
-- is passed over, and who read the same ones at the same time moves nothing.
-- Of one webhook no more than `most` wait: of more the oldest are dropped, and counted. One that was removed meanwhile gets none.
-- Returns how many were dropped, or 'superseded'.
local cursor, webhooks, due, was, to, most = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], tonumber(ARGV[3])

if (redis.call('GET', cursor) or '') ~= was then
  return 'superseded'
end
redis.call('ZCARD', due)
local word = 4
for key = 4, #KEYS, 4 do
  local n = tonumber(ARGV[word + 1])
  if not (n and n >= 0 and n % 1 == 0 and word + 1 + 3 * n <= #ARGV) then
    return redis.error_reply('ERR fan_out: webhook ' .. tostring(ARGV[word]) .. ' has not as many deliveries as it says')
  end
  redis.call('ZCARD', KEYS[key])
  redis.call('ZCARD', KEYS[key + 1])
  redis.call('HLEN', KEYS[key + 2])
  redis.call('HLEN', KEYS[key + 3])
  word = word + 2 + 3 * n
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local dropped = 0
word = 4
redis.call('SET', cursor, to)
for key = 4, #KEYS, 4 do
  local waiting, arrived, deliveries, figures = KEYS[key], KEYS[key + 1], KEYS[key + 2], KEYS[key + 3]
  local webhook, last = ARGV[word], word + 1 + 3 * tonumber(ARGV[word + 1])
  if redis.call('HEXISTS', webhooks, webhook) == 1 then
    for at = word + 2, last, 3 do
      if redis.call('HSETNX', deliveries, ARGV[at], ARGV[at + 2]) == 1 then
        redis.call('ZADD', waiting, now, ARGV[at])
        redis.call('ZADD', arrived, ARGV[at + 1], ARGV[at])
      end
    end
    local over = redis.call('ZCARD', arrived) - most
    if over > 0 then
      for _, id in ipairs(redis.call('ZRANGE', arrived, 0, over - 1)) do
        redis.call('ZREM', waiting, id)
        redis.call('ZREM', arrived, id)
        redis.call('HDEL', deliveries, id)
      end
      redis.call('HINCRBY', figures, 'dropped', over)
      dropped = dropped + over
    end
    redis.call('ZADD', due, 'LT', now, webhook)
  end
  word = last + 1
end
return dropped

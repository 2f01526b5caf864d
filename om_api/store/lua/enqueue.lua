-- enqueue(webhooks, due, waiting, arrived, deliveries, dead; webhook, dead_as, id, at, delivery)
-- Puts one delivery into what waits for a webhook, because somebody asked for it: to try the webhook out, or once more what was given
-- up and stands among the dead as `dead_as` ('' = it does not).
-- Returns 'queued', or 'superseded' where the webhook, or the dead one, is no longer there.
local webhooks, due, waiting, arrived, deliveries, dead = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local webhook, dead_as, id, at, delivery = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

if redis.call('HEXISTS', webhooks, webhook) == 0 or (dead_as ~= '' and not redis.call('ZSCORE', dead, dead_as)) then
  return 'superseded'
end
redis.call('ZCARD', due)
redis.call('ZCARD', waiting)
redis.call('HLEN', deliveries)
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('ZADD', arrived, at, id)
redis.call('ZADD', waiting, now, id)
redis.call('HSET', deliveries, id, delivery)
redis.call('ZREM', dead, dead_as)
redis.call('ZADD', due, 'LT', now, webhook)
return 'queued'

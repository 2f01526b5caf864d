-- attempted(waiting, arrived, deliveries, dead, figures; id, was, outcome, becomes, wait_ms, most, kept_ms)
-- Notes how an attempt at a delivery ended: 'delivered', 'failed' (it is tried again in wait_ms) or 'dead' (it is given up, and kept
-- among the newest `most` for kept_ms); `becomes` is what is kept of it.
-- Time 0: a worker begins an attempt, and its lease ends. Time 1: another one makes the same attempt, and notes how it ended. Time 2:
-- the first one finds another delivery than it read (`was`), or none, and changes nothing.
-- Returns 'noted' or 'superseded'.
local waiting, arrived, deliveries, dead, figures = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local id, was, outcome, becomes, wait_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local most, kept_ms = tonumber(ARGV[6]), tonumber(ARGV[7])

if redis.call('HGET', deliveries, id) ~= was then
  return 'superseded'
end
redis.call('ZCARD', waiting)
redis.call('ZCARD', arrived)
redis.call('ZCARD', dead)
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('HINCRBY', figures, outcome, 1)
if outcome == 'failed' then
  redis.call('ZADD', waiting, 'XX', now + wait_ms, id)
  redis.call('HSET', deliveries, id, becomes)
  return 'noted'
end
redis.call('HDEL', deliveries, id)
redis.call('ZREM', waiting, id)
redis.call('ZREM', arrived, id)
if outcome == 'dead' then
  redis.call('ZADD', dead, now, becomes)
  redis.call('ZREMRANGEBYSCORE', dead, '-inf', now - kept_ms)
  redis.call('ZREMRANGEBYRANK', dead, 0, -most - 1)
  redis.call('PEXPIRE', dead, kept_ms)
end
return 'noted'

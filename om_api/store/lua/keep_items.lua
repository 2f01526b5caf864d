-- keep_items(items, expiring; [change, key, body, ttl]...)
-- Changes items of one namespace in this order: 'put' keeps a body under a key, for `ttl` ms since the last use (0 = it stays), and
-- since when the key is kept; 'drop' removes it; 'touch' is a use. An item is '<kept since, us> <put at, us> <ttl>' and a line
-- with its body. What has expired goes, and where nothing stays the keys expire with the last item.
-- Returns the server's time (us).
local items, expiring = KEYS[1], KEYS[2]
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local ms, most = math.floor(now / 1000), 1000
redis.call('HLEN', items)
redis.call('ZCARD', expiring)

local function drop(key)
  redis.call('HDEL', items, key)
  redis.call('ZREM', expiring, key)
end

for _, key in ipairs(redis.call('ZRANGE', expiring, '-inf', ms, 'BYSCORE', 'LIMIT', 0, most)) do
  drop(key)
end
for n = 1, #ARGV, 4 do
  local change, key, body, ttl = ARGV[n], ARGV[n + 1], ARGV[n + 2], tonumber(ARGV[n + 3])
  local till = tonumber(redis.call('ZSCORE', expiring, key) or math.huge)
  local old = till > ms and redis.call('HGET', items, key)
  if change == 'put' then
    local at = string.format('%.0f', now + n)
    local since = old and string.match(old, '^%d+') or at
    redis.call('HSET', items, key, since .. ' ' .. at .. ' ' .. string.format('%.0f', ttl) .. '\n' .. body)
  elseif change == 'touch' and old then
    ttl = tonumber(string.match(old, '^%d+ %d+ (%d+)') or 0)
  else
    drop(key)
    ttl = nil
  end
  if ttl and ttl > 0 then
    redis.call('ZADD', expiring, ms + ttl, key)
  elseif ttl then
    redis.call('ZREM', expiring, key)
  end
end
local last = redis.call('ZRANGE', expiring, -1, -1, 'WITHSCORES')[2]
if last and redis.call('ZCARD', expiring) == redis.call('HLEN', items) then
  redis.call('PEXPIREAT', items, last)
  redis.call('PEXPIREAT', expiring, last)
else
  redis.call('PERSIST', items)
  redis.call('PERSIST', expiring)
end
return now

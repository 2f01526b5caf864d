-- key_used(keys, used; [id]...)
-- Notes that API keys were used just now, those that were not revoked meanwhile.
local keys, used = KEYS[1], KEYS[2]
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

for _, id in ipairs(ARGV) do
  if redis.call('HEXISTS', keys, id) == 1 then
    redis.call('HSET', used, id, string.format('%.0f', now))
  end
end
return 'rest'

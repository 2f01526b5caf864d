-- pace(asked; most, window)
-- Counts one more request, unless as many as permitted were counted within the last window (ms).
-- Returns 0, or in how many ms one may be made.
local asked, most, window = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local first = tonumber(redis.call('LINDEX', asked, most - 1) or 0)
if first + window > now then
  return math.min(first + window - now, window)
end
redis.call('LPUSH', asked, string.format('%.0f', now))
redis.call('LTRIM', asked, 0, most - 1)
redis.call('PEXPIRE', asked, window)
return 0

-- reserve(spent; entry, day, ttl, tokens, micros, most_calls, most_tokens, most_micros)
-- Counts a call, with the most it should use, before its model is asked; `entry` keeps that apart until settle puts the truth in
-- its place. Time 0: 32 threads see one call left. Time 1: each reserves; one is counted, the others are told what is used up.
-- A budget ('' = none) of tokens or millionths of a dollar ends with the call that crosses it. `day` counts from 1970, in UTC.
-- Returns {'reserved', now}, {'clock', now} when it is another day, or {'calls' | 'tokens' | 'micros', now}: what is used up.
local spent, entry, day, ttl, tokens, micros = KEYS[1], 'open|' .. ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local most_calls, most_tokens, most_micros = ARGV[6], ARGV[7], ARGV[8]

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if redis.call('HEXISTS', spent, entry) == 1 then
  return {'reserved', now}
end
if math.floor(now / 86400000) ~= day then
  return {'clock', now}
end
for _, budget in ipairs({{'calls', most_calls}, {'tokens', most_tokens}, {'micros', most_micros}}) do
  local what, most = budget[1], budget[2]
  if most ~= '' and tonumber(redis.call('HGET', spent, 'all|' .. what) or '0') >= tonumber(most) then
    return {what, now}
  end
end
redis.call('HSET', spent, entry, tokens .. '|' .. micros)
redis.call('HINCRBY', spent, 'all|calls', 1)
redis.call('HINCRBY', spent, 'all|tokens', tokens)
redis.call('HINCRBY', spent, 'all|micros', micros)
redis.call('EXPIRE', spent, ttl)
return {'reserved', now}

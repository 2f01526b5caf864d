-- stir(record, tokens; fingerprint)
-- Notes when a memory last changed, by the server's clock: `fingerprint` is of its counters and seq as the sweep just read them. What
-- is kept in fields by hand is counted beside them.
-- Messages' own times say nothing about that: one written today may tell of last year. Creates nothing for a memory that is gone.
-- Returns for how many ms no sweep saw a change.
local record, tokens, fingerprint = KEYS[1], KEYS[2], ARGV[1]

local time = redis.call('TIME')
local now = string.format('%d', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
local kept = redis.call('HGET', tokens, '*kept')
fingerprint = kept and fingerprint .. '/' .. kept or fingerprint
local known = redis.call('HMGET', record, 'stirred', 'stirred_at')
if known[1] == fingerprint then
  return string.format('%d', tonumber(now) - tonumber(known[2]))
end
if redis.call('EXISTS', record, tokens) > 0 then
  redis.call('HSET', record, 'stirred', fingerprint, 'stirred_at', now)
end
return '0'

-- begin(chunk; attempts)
-- Counts an attempt on a chunk before its model is called; -1 gives one back that was not the chunk's fault (a 429).
-- Returns the attempts so far, or 'superseded' when the chunk is gone or ready.
local chunk, attempts = KEYS[1], ARGV[1]

if redis.call('HGET', chunk, 'state') ~= 'sealed' then
  return 'superseded'
end
return redis.call('HINCRBY', chunk, 'attempts', attempts)

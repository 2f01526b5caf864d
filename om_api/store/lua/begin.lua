-- begin(chunk; attempts, crashes)
-- Counts an attempt on a chunk before its model is called. -1 gives one back that was not the
-- chunk's fault (a 429, or a worker that stops), unless none is counted.
-- Returns the attempts so far; 'crashed', without counting one, if the chunk has that many
-- `crashes`; 'superseded' when the chunk is gone or ready.
local chunk, attempts, crashes = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])

local is = redis.call('HMGET', chunk, 'state', 'crashed', 'attempts')
if is[1] ~= 'sealed' then
  return 'superseded'
end
if attempts > 0 and (tonumber(is[2] or '') or 0) >= crashes then
  return 'crashed'
end
if attempts < 0 and (tonumber(is[3] or '') or 0) <= 0 then
  return 0
end
return redis.call('HINCRBY', chunk, 'attempts', attempts)

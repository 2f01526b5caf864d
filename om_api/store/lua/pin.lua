-- pin(record; epoch, generation, seq, pinned, pins)
-- Writes what is pinned in a memory ('' = nothing), if it is the memory that was read: what is pinned stands in it then. The seq moves
-- on, so that whoever read what was pinned before, to move or to clear it, reads again.
-- Time 0: somebody pins a line that a reflection is replacing. Time 1: that is committed, without the line. Time 2: the pin would be
-- of a line that stands nowhere; the generation is another one, and nothing changes.
-- Returns 'pinned' or 'superseded'.
local record = KEYS[1]
local epoch, generation, seq, pinned, pins = unpack(ARGV, 1, 5)

local version = redis.call('HMGET', record, 'epoch', 'generation', 'seq', 'pins')
if version[1] == epoch and (version[4] or '') == pins then
  return 'pinned'
end
if version[1] ~= epoch or version[2] ~= generation or (version[3] or '0') ~= seq or (version[4] or '') ~= pinned then
  return 'superseded'
end
if pins == '' then
  redis.call('HDEL', record, 'pins')
else
  redis.call('HSET', record, 'pins', pins)
end
redis.call('HINCRBY', record, 'seq', 1)
return 'pinned'

-- observed(chunk, mark; seconds)
-- Notes for a while that a model did its work since a chunk, or the one that it is a half of, could not be observed.
-- Time 0: a chunk's half is observed. Time 1: its owner clears the memory. Time 2: the note must not outlive what it is about.
-- Returns 1, or 0 when the chunk is gone.
local chunk, mark, seconds = KEYS[1], KEYS[2], ARGV[1]

if redis.call('EXISTS', chunk) == 0 then
  return 0
end
redis.call('SET', mark, 1, 'EX', seconds)
return 1

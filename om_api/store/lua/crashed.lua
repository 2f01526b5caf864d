-- crashed(chunk; by)
-- Counts a crash of a chunk that a worker process froze at, once for each report `by` of a watchdog.
-- Time 0: a worker stores the notes of a chunk, and freezes at something else. Time 1: its watchdog reports the chunk, which is
-- ready: nothing is counted.
-- Returns the crashes so far, the thread, messages and tokens, or nothing when the chunk is gone or ready.
local chunk, by = KEYS[1], ARGV[1]

local is = redis.call('HMGET', chunk, 'state', 'thread', 'messages', 'tokens', 'crashed', 'crashed_by')
if is[1] ~= 'sealed' then
  return {}
end
local crashes = tonumber(is[5] or '') or 0
if is[6] ~= by then
  crashes = crashes + 1
  redis.call('HSET', chunk, 'crashed', crashes, 'crashed_by', by)
end
return {crashes, is[2], is[3], is[4]}

-- crashed(chunk; by)
-- Blames the end of a worker process on a chunk that it observed, once for each report `by` a watchdog.
-- Time 0: a worker stores what it noted of a chunk, and freezes on what comes after. Time 1: its watchdog blames the chunk. The
-- chunk is ready: nothing is counted.
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

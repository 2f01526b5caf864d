-- mend(record, threads, [state, sources]...; epoch, ttl, [thread, at, observed_at, task, task_at, task_from, n, [id, ms]...]...)
-- Writes lost fields of a memory's threads again, derived from its observations: their entry in the index of threads, when they
-- were observed, their task, and which observations have messages. Existing fields stay as they are.
-- Time 0: a sweep reads a memory. Time 1: its owner clears a thread. Time 2: the record has another epoch, so nothing of that
-- thread comes back.
-- Returns 'mended' or 'superseded'.
local record, threads, epoch, ttl = KEYS[1], KEYS[2], ARGV[1], ARGV[2]

if (redis.call('HGET', record, 'epoch') or '') ~= epoch then
  return 'superseded'
end
redis.call('ZCARD', threads)
for key = 3, #KEYS, 2 do
  redis.call('HLEN', KEYS[key])
  redis.call('ZCARD', KEYS[key + 1])
end
local slot = 3
for key = 3, #KEYS, 2 do
  local thread, at, observed_at, task, task_at, task_from, n = unpack(ARGV, slot, slot + 6)
  local state, sources = KEYS[key], KEYS[key + 1]
  redis.call('ZADD', threads, 'NX', at, thread)
  if redis.call('HSETNX', state, 'observed_at', observed_at) == 1 and task ~= '' then
    redis.call('HSET', state, 'current_task', task, 'current_task_at', task_at, 'current_task_from', task_from)
  end
  slot = slot + 7
  for _ = 1, tonumber(n) do
    redis.call('ZADD', sources, 'NX', ARGV[slot + 1], ARGV[slot])
    slot = slot + 2
  end
  if tonumber(n) > 0 and redis.call('TTL', sources) == -1 then
    redis.call('EXPIRE', sources, ttl)
  end
end
return 'mended'

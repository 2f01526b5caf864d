-- clear_thread(tokens, record, messages, chunks, observations, reflections, threads, rejected, scope, working, aliases, archived, [reflected]..., [key]...; word, epoch, fresh_epoch, seq, generation, thread, histories, chunks_n, observations_n, rejected_n, listed, last, pins, aliases_n, [alias]..., [chunk, tokens]..., [observation_seq, tokens]..., [entry]..., [generation_n, text, tokens]...)
-- Removes one thread from a memory that covers more: its raw messages, chunks, observations, history and quarantined entries,
-- writes the generations again without its sections, and what is pinned without its lines (`pins`, '' = nothing left); its working memory goes. What the memory holds of other threads is not touched. The record gets a new epoch:
-- Time 0: a Reflector reads the generation in force. Time 5: the thread is cleared. Time 9: the reflection, thought from what
-- was cleared, must not be committed.
-- Time 0: a client plans to clear thread-2. Time 1: thread-2 becomes an alias of thread-1. Time 2: thread-2 holds nothing, and pushes would
-- no longer meet the alias; nothing changes, and the client clears thread-1, whose name it is.
-- Time 0: a client plans to clear thread-1, with what waits under its alias. Time 1: the alias ends. Time 2: what came to that name since is
-- another thread's; nothing changes.
-- Time 0: a client brings back what is archived, and plans to clear a thread. Time 1: its hold on the resource expires, and a worker archives a
-- source of that thread. Time 2: without its observation nobody would know whose source it is; nothing changes, and the client brings it back.
-- Returns 'cleared', or 'superseded' when anything was sealed, activated, reflected or rejected since the plan was made; of the
-- quarantine it says how many entries were `listed`, and which was the `last`.
local tokens, record, messages, chunks, observations, reflections, threads, rejected, scope, working, aliases, archived = unpack(KEYS, 1, 12)
local word, epoch, fresh, seq, generation, thread, histories, chunks_n, observations_n, rejected_n, listed, last, pins, aliases_n = unpack(ARGV, 1, 14)

local in_force = redis.call('GET', scope)
local version = redis.call('HMGET', record, 'epoch', 'seq', 'generation')
if redis.call('HEXISTS', aliases, thread) == 1 or redis.call('ZCARD', archived) > 0 then
  return 'superseded'
end
if (in_force and in_force ~= word) or (version[1] or '') ~= epoch or (version[2] or '0') ~= seq or (version[3] or '0') ~= generation then
  return 'superseded'
end
redis.call('ZCARD', messages)
redis.call('ZCARD', chunks)
redis.call('ZCARD', observations)
redis.call('ZCARD', reflections)
redis.call('ZCARD', threads)
local kept = redis.call('HGETALL', working)
if redis.call('LLEN', rejected) ~= tonumber(listed) or (redis.call('LINDEX', rejected, -1) or '') ~= last then
  return 'superseded'
end

for slot = 15, 14 + tonumber(aliases_n) do
  if redis.call('HGET', aliases, ARGV[slot]) ~= thread then
    return 'superseded'
  end
end

local counts = redis.call('HMGET', tokens, thread, '*', '*memory:' .. thread)
local slot, chunk_tokens, observation_tokens, removed = 15 + tonumber(aliases_n), 0, 0, 0
for _ = 1, tonumber(chunks_n) do
  redis.call('ZREM', chunks, ARGV[slot])
  chunk_tokens, slot = chunk_tokens + tonumber(ARGV[slot + 1]), slot + 2
end
for _ = 1, tonumber(observations_n) do
  local gone = redis.call('ZREMRANGEBYSCORE', observations, ARGV[slot], ARGV[slot])
  if gone == 1 then
    observation_tokens, removed = observation_tokens + tonumber(ARGV[slot + 1]), removed + 1
  end
  for k = 13, 12 + tonumber(histories) do
    redis.call('ZREMRANGEBYSCORE', KEYS[k], ARGV[slot], ARGV[slot])
  end
  slot = slot + 2
end
for _ = 1, tonumber(rejected_n) do
  redis.call('LREM', rejected, 0, ARGV[slot])
  slot = slot + 1
end
while slot <= #ARGV do
  redis.call('ZREMRANGEBYSCORE', reflections, ARGV[slot], ARGV[slot])
  redis.call('ZADD', reflections, ARGV[slot], ARGV[slot + 1])
  if ARGV[slot] == generation then
    redis.call('HSET', record, 'reflection_tokens', ARGV[slot + 2])
  end
  slot = slot + 3
end
redis.call('UNLINK', messages)
for from = 13 + tonumber(histories), #KEYS, 1000 do
  redis.call('UNLINK', unpack(KEYS, from, math.min(from + 999, #KEYS)))
end
redis.call('ZREM', threads, thread)
for i = 1, #kept, 2 do
  if string.match(kept[i], '^[^:]*:(.*)$') == thread then
    redis.call('HDEL', working, kept[i])
  end
end
redis.call('HDEL', tokens, thread, '#' .. thread, '*wake:' .. thread, '*away:' .. thread, '*memory:' .. thread)
if counts[2] and counts[3] ~= 'off' and counts[3] ~= 'read_only' then
  redis.call('HSET', tokens, '*', string.format('%d', math.max(tonumber(counts[2]) - (tonumber(counts[1]) or 0), 0)))
end
if epoch ~= '' and redis.call('EXISTS', record) == 1 then
  redis.call('HINCRBY', record, 'chunk_tokens', string.format('%d', -chunk_tokens))
  redis.call('HINCRBY', record, 'observation_tokens', string.format('%d', -observation_tokens))
  redis.call('HINCRBY', record, 'observation_count', string.format('%d', -removed))
  redis.call('HINCRBY', record, 'seq', 1)
  redis.call('HSET', record, 'epoch', fresh)
  redis.call('HDEL', record, 'pins')
  if pins ~= '' then
    redis.call('HSET', record, 'pins', pins)
  end
end
return 'cleared'

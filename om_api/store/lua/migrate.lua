-- migrate(scope, tokens, threads, [record, chunks, observations, reflections, draft, reflected]..., [history]...; from, to, olds, news, [thread, epoch, generation, seq]..., [thread, fresh_epoch, generation, tokens, observation_tokens, observed_tokens, observed_messages, seq, pool_seq, f, [field, value]..., ttl, n, h, [seq, member]...]...)
-- Moves a memory to the other scope: the first `olds` groups of keys are where it is, the next `news` where it goes, the rest the
-- histories it leaves. Everything is written new by the caller from what it read (n observations, then h that the leading
-- generation stands for, which live `ttl` seconds, 0 = as long as the memory); the versions prove that nothing was sealed, activated, reflected or forgotten since, and nothing may
-- be in chunks. `f` fields of the record go along.
-- Time 0: the threads are read. Time 1: a message of a new one is sealed, into a memory that nobody read. Time 2: the threads
-- become one pool; what was sealed would stay behind. The index of threads names the new one by now, and nothing changes.
-- Returns 'migrated', or 'superseded'.
local scope, tokens, threads, from, to, olds, news = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

local in_force = redis.call('GET', scope)
if in_force == to then
  return 'migrated'
end
if in_force ~= from then
  return 'superseded'
end
local slot, first_new, first_history, known = 5, 4 + olds * 6, 4 + (olds + news) * 6, {}
for key = 4, first_new - 1, 6 do
  local thread, epoch, generation, seq = unpack(ARGV, slot, slot + 3)
  local version = redis.call('HMGET', KEYS[key], 'epoch', 'generation', 'seq')
  if (version[1] or '') ~= epoch or (version[2] or '0') ~= generation or (version[3] or '0') ~= seq
      or redis.call('ZCARD', KEYS[key + 1]) > 0 then
    return 'superseded'
  end
  known[thread], slot = true, slot + 4
end
for _, thread in ipairs(redis.call('ZRANGE', threads, 0, -1)) do
  if from == 'thread' and not known[thread] then
    return 'superseded'
  end
end
for key = first_new, first_history - 1, 6 do
  if redis.call('HEXISTS', KEYS[key], 'epoch') == 1 or redis.call('EXISTS', KEYS[key + 1], KEYS[key + 2], KEYS[key + 3]) > 0 then
    return 'superseded'
  end
end

local time = redis.call('TIME')
local now = string.format('%d', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
for key = 4, first_new - 1, 6 do
  redis.call('UNLINK', unpack(KEYS, key, key + 5))
end
for key = first_history, #KEYS do
  redis.call('UNLINK', KEYS[key])
end
local function fill(key, n)
  for _ = 1, n do
    redis.call('ZADD', key, ARGV[slot], ARGV[slot + 1])
    slot = slot + 2
  end
end
for key = first_new, first_history - 1, 6 do
  local thread, fresh, generation, reflected, weight, observed, messages, seq, pool_seq, f = unpack(ARGV, slot, slot + 9)
  local fields, last = slot + 10, slot + 9 + 2 * tonumber(f)
  local ttl, n, h = unpack(ARGV, last + 1, last + 3)
  slot = last + 4
  fill(KEYS[key + 2], tonumber(n))
  redis.call('UNLINK', KEYS[key + 5]) -- what stands in the record already are requests that wait
  fill(KEYS[key + 5], tonumber(h))
  if tonumber(h) > 0 and tonumber(ttl) > 0 then
    redis.call('EXPIRE', KEYS[key + 5], ttl)
  end
  local first = generation ~= '' and 1 or 0
  if first == 1 then
    redis.call('ZADD', KEYS[key + 3], 1, generation)
  end
  redis.call('HSET', KEYS[key], 'schema', 1, 'epoch', fresh, 'generation', first, 'origin', first == 1 and 'restore' or 'initial',
    'seq', seq, 'pool_seq', pool_seq, 'observation_tokens', weight, 'observation_count', n, 'reflection_tokens', reflected,
    'observed_tokens', observed, 'observed_messages', messages, 'created_at', now, 'updated_at', now, unpack(ARGV, fields, last))
  if thread ~= '' then
    redis.call('ZADD', threads, 'NX', now, thread) -- who moves back looks for memories by this index
  end
end
redis.call('SET', scope, to)
for _, field in ipairs(redis.call('HKEYS', tokens)) do
  if string.sub(field, 1, 5) == '*wake' then
    redis.call('HDEL', tokens, field)
  end
end
return 'migrated'

-- migrate(scope, tokens, [record, chunks, observations, reflections, draft]...; from, to, ttl, olds, [epoch, generation, seq]..., [fresh_epoch, generation, tokens, n, observation_tokens, [seq, member]...]...)
-- Moves a memory to the other scope: the first `olds` groups of keys are where it is, the others where it goes. Everything is
-- written new by the caller from what it read; the versions prove that nothing was sealed, activated or reflected since, and
-- nothing may be in chunks. The history of generations before the move is dropped; the last one leads as the first.
-- Returns 'migrated', or 'superseded'.
local scope, tokens, from, to, ttl, olds = KEYS[1], KEYS[2], ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

local in_force = redis.call('GET', scope)
if in_force == to then
  return 'migrated'
end
if in_force ~= from then
  return 'superseded'
end
local slot = 5
for i = 1, olds do
  local key = i * 5 - 2
  local version = redis.call('HMGET', KEYS[key], 'epoch', 'generation', 'seq')
  if (version[1] or '') ~= ARGV[slot] or (version[2] or '0') ~= ARGV[slot + 1] or (version[3] or '0') ~= ARGV[slot + 2]
      or redis.call('ZCARD', KEYS[key + 1]) > 0 then
    return 'superseded'
  end
  slot = slot + 3
end
for key = 3 + olds * 5, #KEYS, 5 do
  if redis.call('EXISTS', KEYS[key], KEYS[key + 1], KEYS[key + 2], KEYS[key + 3]) > 0 then
    return 'superseded'
  end
end

local time = redis.call('TIME')
local now = string.format('%d', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
for key = 3, 2 + olds * 5, 5 do
  redis.call('UNLINK', unpack(KEYS, key, key + 4))
end
for key = 3 + olds * 5, #KEYS, 5 do
  local fresh, generation, reflected, n, weight = unpack(ARGV, slot, slot + 4)
  slot = slot + 5
  local seq = 0
  for _ = 1, tonumber(n) do
    redis.call('ZADD', KEYS[key + 2], ARGV[slot], ARGV[slot + 1])
    seq, slot = math.max(seq, tonumber(ARGV[slot])), slot + 2
  end
  local first = generation ~= '' and 1 or 0
  if first == 1 then
    redis.call('ZADD', KEYS[key + 3], 1, generation)
  end
  redis.call('HSET', KEYS[key], 'schema', 1, 'epoch', fresh, 'generation', first, 'origin', first == 1 and 'restore' or 'initial',
    'seq', string.format('%d', seq), 'observation_tokens', weight, 'observation_count', n, 'reflection_tokens', reflected, 'created_at', now, 'updated_at', now)
end
redis.call('SET', scope, to)
for _, field in ipairs(redis.call('HKEYS', tokens)) do
  if string.sub(field, 1, 5) == '*wake' then
    redis.call('HDEL', tokens, field)
  end
end
return 'migrated'

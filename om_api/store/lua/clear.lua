-- clear(tokens, threads, aliases, [record]..., [messages]..., [key]...; retention, records, kept, [epoch, seq, generation]..., [thread, count]...)
-- Unlinks every key it was given, known ids and records included, in one step. The first `records` keys after aliases are records with
-- the version the keys were planned from, the next ones the raw sets of the threads that the plan knew, with their counts (0 =
-- nothing unsealed); `kept` is how often a field was kept by hand.
-- Time 0: an owner's clear is planned. Time 1: a message of a new thread is pushed. Time 2: it is sealed: in thread scope only
-- the index of threads names it now. Unlinked with the rest, it would leave a chunk that nobody finds.
-- Returns 'cleared'; 'refetch' when an index names more than the plan knew; 'superseded' (retention only) when anything came.
local tokens, threads, aliases, retention, records, kept = KEYS[1], KEYS[2], KEYS[3], ARGV[1], tonumber(ARGV[2]), ARGV[3]

if retention == '1' and (redis.call('HGET', tokens, '*kept') or '0') ~= kept then
  return 'superseded'
end
local known, slot = {}, 4
for i = 1, records do
  local version = redis.call('HMGET', KEYS[i + 3], 'epoch', 'seq', 'generation')
  if (version[1] or '') ~= ARGV[slot] or (version[2] or '0') ~= ARGV[slot + 1] or (version[3] or '0') ~= ARGV[slot + 2] then
    return retention == '1' and 'superseded' or 'refetch'
  end
  slot = slot + 3
end
for i = slot, #ARGV, 2 do
  known[ARGV[i]] = ARGV[i + 1]
  local raw = redis.call('ZCARD', KEYS[4 + records + (i - slot) / 2])
  if retention == '1' and raw ~= tonumber(ARGV[i + 1]) then
    return 'superseded'
  end
end
local fields = redis.call('HGETALL', tokens)
for i = 1, #fields, 2 do
  if string.sub(fields[i], 1, 1) == '#' then
    local count = known[string.sub(fields[i], 2)]
    if retention == '1' and count ~= fields[i + 1] then
      return 'superseded'
    end
    if not count then
      return 'refetch'
    end
  end
end
for _, thread in ipairs(redis.call('ZRANGE', threads, 0, -1)) do
  if not known[thread] then
    return retention == '1' and 'superseded' or 'refetch'
  end
end
for _, alias in ipairs(redis.call('HKEYS', aliases)) do
  if not known[alias] then
    return retention == '1' and 'superseded' or 'refetch'
  end
end
for from = 1, #KEYS, 1000 do
  redis.call('UNLINK', unpack(KEYS, from, math.min(from + 999, #KEYS)))
end
return 'cleared'

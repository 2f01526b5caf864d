-- index(record, [segment, chunk, sealed, source]...; epoch, version, [n, words]...)
-- Gives chunks, each of n messages, the index that was made of these, in the place of none or of one of an older version. `version` is
-- noted where nothing of the memory lacks that any more ('' = something may).
-- Time 0: a worker reads what stands behind an observation. Time 1: a message of it is erased, and the index goes. Time 2: what was made
-- of all of them must not come back: they are fewer now, and the memory has another epoch. A chunk that is not ready gets its index
-- with its observation.
-- Returns 'indexed' or 'superseded'.
local record, epoch, version = KEYS[1], ARGV[1], ARGV[2]

if redis.call('HGET', record, 'epoch') ~= epoch then
  return 'superseded'
end
for key = 2, #KEYS, 4 do
  local segment, chunk, sealed, source = unpack(KEYS, key, key + 3)
  local n, words = tonumber(ARGV[key / 2 + 2]), ARGV[key / 2 + 3]
  if redis.call('ZCARD', source) == n then
    redis.call('SET', segment, words, 'PX', math.max(redis.call('PTTL', source), 1))
  elseif redis.call('HGET', chunk, 'state') == 'ready' and redis.call('ZCARD', sealed) == n then
    redis.call('SET', segment, words)
  end
end
if version ~= '' then
  redis.call('HSET', record, 'indexed', version)
end
return 'indexed'

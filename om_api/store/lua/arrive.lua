-- arrive(imported, scope, tokens, threads, rejected, aliases, working, [record]..., [staged, key]...; id, records, [size, held, until]...)
-- Makes a whole memory of what an import has written under staged names: each is renamed to its key, all in one step, so that
-- nobody ever reads half of it. `size` is the command that counts what a staged key must hold, `until` the Unix ms at which the
-- key expires ('0' never does). A record without an epoch holds nothing but requests of a memory that is not there yet.
-- Time 0: an import finds nobody at home and writes for a minute. Time 1: an agent pushes its first message. Time 2: the memory
-- that was imported must not take the place of that message, nor be mixed with it; nothing changes.
-- Returns 'imported'; 'occupied' when the resource holds anything; 'incomplete' when what was staged is no longer all there.
local imported, scope, tokens, threads, rejected, aliases, working = unpack(KEYS, 1, 7)
local id, records = ARGV[1], tonumber(ARGV[2])

if redis.call('GET', imported) == id then
  return 'imported'
end
if redis.call('EXISTS', scope, threads, rejected, aliases, working) > 0 then
  return 'occupied'
end
for _, field in ipairs(redis.call('HKEYS', tokens)) do
  if string.sub(field, 1, 1) == '#' then
    return 'occupied'
  end
end
local vacant = {[tokens] = true}
for key = 8, 7 + records do
  if redis.call('HEXISTS', KEYS[key], 'epoch') == 1 then
    return 'occupied'
  end
  vacant[KEYS[key]] = true
end
local slot = 3
for key = 8 + records, #KEYS, 2 do
  if redis.call(ARGV[slot], KEYS[key]) ~= tonumber(ARGV[slot + 1]) then
    return 'incomplete'
  end
  if not vacant[KEYS[key + 1]] and redis.call('EXISTS', KEYS[key + 1]) == 1 then
    return 'occupied'
  end
  slot = slot + 3
end
local paused = redis.call('HGET', tokens, '*paused')

slot = 3
for key = 8, 7 + records do
  redis.call('UNLINK', KEYS[key])
end
for key = 8 + records, #KEYS, 2 do
  redis.call('RENAME', KEYS[key], KEYS[key + 1])
  if ARGV[slot + 2] == '0' then
    redis.call('PERSIST', KEYS[key + 1])
  else
    redis.call('PEXPIREAT', KEYS[key + 1], ARGV[slot + 2])
  end
  slot = slot + 3
end
if paused then
  redis.call('HSET', tokens, '*paused', paused)
end
redis.call('SET', imported, id, 'PX', 3600000)
return 'imported'

-- relearn(known, place; day, ms, [record, member]...)
-- uses ids
-- Marks ids as sealed on `day` that are marked as raw although their messages are in `place`: a worker of an older version sealed
-- them and did not record that. `ms` is when the last chunk of that day was activated ('0': it was not).
-- Time 0: a sweep reads a sealed message. Time 1: it is erased. Time 2: it is accepted again, raw. Time 3: it is not in `place`, so
-- its id stays marked as raw.
-- Returns how many ids were corrected.
local known, place, day, ms = KEYS[1], KEYS[2], ARGV[1], ARGV[2]

local records = {}
for i = 3, #ARGV, 2 do
  records[#records + 1] = ARGV[i]
end
local set, changed = ids.open(known, records), 0
for i = 1, #records do
  local was = not set.alias and ids.find(set, string.sub(records[i], 1, 7))
  if was and string.sub(was, 8, 9) == '\0\0' and redis.call('ZSCORE', place, ARGV[2 * i + 2]) then
    ids.put(set, string.sub(was, 1, 7) .. string.sub(records[i], 8, 9) .. string.sub(was, 10))
    changed = changed + 1
  end
end
if changed > 0 then
  ids.save(set)
  local last = tonumber(redis.call('HGET', known, 'd' .. day) or '') or 0
  if tonumber(ms) > last then
    redis.call('HSET', known, 'd' .. day, ms)
  end
end
return changed

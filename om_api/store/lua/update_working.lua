-- update_working(working, record, aliases, tokens; place, change, version, value, by, past, keep)
-- Writes a working memory anew, if it is the one that was read: its `version` ('' = there was none). `place` is '' for the resource's own,
-- else the thread. What it said before is kept as `past`, the newest `keep` of those; what a context's stable part shows stays what it was
-- until something is activated: the value before the first change since then. Of a memory that was never activated it is the first value.
-- Time 0: two Actors read version 4. Time 1: one writes a field. Time 2: the other writes another one, and is told 'superseded': it reads
-- the first one's, and writes both. A change that comes again after a lost reply answers what it answered first.
-- A thread that has become an alias meanwhile keeps nothing of its own: whoever writes to it reads again, by the other name.
-- Returns 'updated' or 'superseded'.
local working, record, aliases, tokens = unpack(KEYS, 1, 4)
local place, change, version, value, by, past, keep = unpack(ARGV, 1, 7)

local function of(name)
  return name .. ':' .. place
end
local is = redis.call('HMGET', working, of('version'), of('change'), of('value'), of('at'))
if is[2] == change then
  return 'updated'
end
if (is[1] or '') ~= version then
  return 'superseded'
end
if place ~= '' and redis.call('HEXISTS', aliases, place) == 1 then
  return 'superseded'
end
local activated = tonumber(redis.call('HGET', record, 'observed_at') or '') or 0

local time = redis.call('TIME')
local now = string.format('%d', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
local n = (tonumber(is[1] or '') or 0) + 1
redis.call('HINCRBY', tokens, '*kept', 1) -- by which who clears what has been idle knows that it is not
if (tonumber(is[4] or '') or 0) <= activated then
  redis.call('HSET', working, of('shown'), is[3] or (activated == 0 and value or '{}'))
end
redis.call('HSET', working, of('version'), n, of('change'), change, of('value'), value, of('at'), now, of('by'), by)
if past ~= '' then
  redis.call('HSET', working, of(n - 1), past)
end
local old, absent = n - 1 - tonumber(keep), 0
while old > 0 and absent < 100 do -- an erase leaves out a number, and fewer may be kept than before
  absent = redis.call('HDEL', working, of(old)) == 1 and 0 or absent + 1
  old = old - 1
end
return 'updated'

-- tidy(known, record, chunks, [chunk]...; thread, ttl, first)
-- uses ids
-- Forgets the ids of messages whose sources have expired: of a day on which chunks of the thread were sealed, when the last one of
-- them was activated more than `ttl` seconds ago, and none waits still. `chunk` are all that the scope has. The record says when
-- to look next, for all threads of which this was asked since the `first`.
-- Time 0: a worker finds that a day is over. Time 1: a chunk is sealed or split. Time 2: the chunks are others than were named,
-- nothing is forgotten.
-- Returns 'superseded', or how many ids were forgotten.
local known, record, chunks, thread, ttl, first = KEYS[1], KEYS[2], KEYS[3], ARGV[1], tonumber(ARGV[2]) * 1000, ARGV[3] == '1'

if redis.call('ZCARD', chunks) ~= #KEYS - 3 then
  return 'superseded'
end
local waits = {}
for k = 4, #KEYS do
  local is = redis.call('HMGET', KEYS[k], 'thread', 'sealed_at')
  if not is[1] then
    return 'superseded'
  end
  if is[1] == thread then
    waits[math.floor((tonumber(is[2]) or 0) / 86400000)] = true
  end
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local held, over, after, buckets = redis.call('HGETALL', known), {}, now + ttl, {}
for i = 1, #held, 2 do
  local day = tonumber(string.match(held[i], '^d(%d+)$') or '')
  local ends = day and tonumber(held[i + 1]) + ttl
  if day and ends < now and not waits[day] then
    over[string.char(math.floor(day / 256) % 256, day % 256)] = held[i]
  elseif day then
    after = math.min(after, math.max(ends, now) + 1)
  elseif string.match(held[i], '^%d+$') then
    buckets[held[i]] = held[i + 1]
  end
end
local tidy_at, gone, retracted, again = redis.call('HGET', record, 'tidy_at'), 0, ids.retracted(known), false
for at, bucket in pairs(next(over) and buckets or {}) do
  local rest = {}
  for _, each in ipairs(ids.listed(bucket)) do
    if not over[string.sub(each, 8, 9)] then
      rest[#rest + 1] = each
    elseif retracted[string.sub(each, 1, 7)] then
      retracted[string.sub(each, 1, 7)], again = nil, true
    end
  end
  gone = gone + #bucket / 16 - #rest
  if rest[1] then
    redis.call('HSET', known, at, table.concat(rest))
  else
    redis.call('HDEL', known, at)
  end
end
for _, field in pairs(over) do
  redis.call('HDEL', known, field)
end
if again then
  ids.retract(known, retracted)
end
if gone > 0 and redis.call('HINCRBY', known, '#', string.format('%d', -gone)) == 0 then
  redis.call('UNLINK', known)
elseif gone > 0 then
  redis.call('HSET', known, '~', 1)
end
if redis.call('EXISTS', record) == 1 then
  redis.call('HSET', record, 'tidy_at', string.format('%d', first and after or math.min(after, tonumber(tidy_at or '') or after)))
end
return gone

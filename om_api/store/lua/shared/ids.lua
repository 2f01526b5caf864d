-- The ids that are known of a thread: one hash of numbered buckets that are split one at a time as it grows (linear hashing), so
-- that one more id touches one bucket, however many there are. Fields: `#` how many records, `/` how many buckets, a bucket's
-- number its records, `^` the id that the thread ended with when something was accepted last, `d<day>` the ms at which the last
-- chunk that was sealed on that day was activated, `~` that messages were forgotten: they had expired, or
-- their owner said so; `%` the id that the last history ended with, `@` what is retracted: of each such message 7 bytes of its id's
-- hash, then `r` if it was raw when it was retracted, else `n`. Of an alias it holds nothing but `=`, the thread that it stands for.
-- A record is 16 bytes: 7 of the id's hash, 2 the day it was sealed on (0 while it is raw; 65535 while a rest of it is, which keeps
-- it known as long as that), 3 the length of its content, 4 a check sum of it.
local RECORD, FULL, DAY = 16, 48, 86400000
local byte, find, sub = string.byte, string.find, string.sub
local ids = {}

local function spanned(set)
  while set.span * 2 <= set.of do
    set.span = set.span * 2
  end
end

local function number(id)
  local a, b, c, d = byte(id, 1, 4)
  return ((a * 256 + b) * 256 + c) * 256 + d
end

local function bucket(set, id)
  if set.of == 1 then
    return 0
  end
  local at = number(id) % (set.span * 2)
  return at < set.of and at or at - set.span
end

-- Opens the set under a key, and reads what must be looked at for these records, of which the first 7 bytes are the id.
ids.open = function(key, records)
  local was = redis.call('HMGET', key, '#', '/', '=')
  local of = tonumber(was[2])
  if of and not (of >= 1 and of < 2 ^ 31) then -- nobody's number makes the loops long
    of = nil
  end
  local held, name = {}, {}
  local set = {key = key, count = tonumber(was[1]) or 0, of = of or 1, was = of, span = 1, new = 0, held = held, name = name, added = {}, more = {}, changed = {}, alias = was[3]}
  if set.count == 0 then
    set.of = math.max(set.of, math.ceil(#records / FULL))
  end
  spanned(set)
  local asked, names = {}, {}
  for i = 1, #records do
    local at = bucket(set, records[i])
    if not held[at] then
      held[at] = ''
      name[at] = string.format('%d', at) -- a number would be written as a float, twice: longer than reading what it names
      asked[#asked + 1], names[#names + 1] = at, name[at]
    end
  end
  for from = 1, was[1] and #names or 0, 1000 do
    local to = math.min(from + 999, #names)
    local found = redis.call('HMGET', key, unpack(names, from, to))
    for i = from, to do
      held[asked[i]] = found[i - from + 1] or ''
    end
  end
  return set
end

-- A bucket with what was added to it: joined once, not record by record, because each string is a copy.
local function joined(set, at)
  local more = set.more[at]
  if more then
    set.held[at], set.more[at] = set.held[at] .. table.concat(more), nil
  end
  return set.held[at]
end

-- The record of an id, and where it stands in which bucket; nil and the bucket for one that is not known.
ids.find = function(set, id)
  local at = bucket(set, id)
  local held, place = set.added[id] and joined(set, at) or set.held[at], 0
  repeat
    place = find(held, id, place + 1, true)
  until not place or place % RECORD == 1
  if place then
    return sub(held, place, place + RECORD - 1), at, place
  end
  return nil, at
end

-- Adds the record of an id that is not known, to its bucket.
ids.add = function(set, id, record, at)
  local more = set.more[at]
  if more then
    more[#more + 1] = record
  else
    set.more[at], set.changed[at] = {record}, true
  end
  set.new, set.added[id] = set.new + 1, true
  set.count = set.count + 1
end

-- Adds a record, or writes it in the place of the one with its id.
ids.put = function(set, record)
  local id = sub(record, 1, 7)
  local was, at, place = ids.find(set, id)
  if not was then
    return ids.add(set, id, record, at)
  end
  local held = set.held[at]
  set.held[at] = sub(held, 1, place - 1) .. record .. sub(held, place + RECORD)
  set.changed[at] = true
end

local function split(set)
  local from, to, span, stays, goes = set.of - set.span, set.of, set.span * 2, {}, {}
  local held = joined(set, from) or redis.call('HGET', set.key, from) or ''
  for place = 1, #held, RECORD do
    local record = sub(held, place, place + RECORD - 1)
    local list = number(record) % span == to and goes or stays
    list[#list + 1] = record
  end
  set.held[from], set.held[to] = table.concat(stays), table.concat(goes)
  set.changed[from], set.changed[to] = true, true
  set.of = set.of + 1
  spanned(set)
end

-- What is retracted: the state of each id.
ids.retracted = function(key)
  local text, states = redis.call('HGET', key, '@') or '', {}
  for place = 1, #text - 7, 8 do
    states[sub(text, place, place + 6)] = sub(text, place + 7, place + 7)
  end
  return states
end

-- Writes what is retracted.
ids.retract = function(key, states)
  local held = {}
  for id, state in pairs(states) do
    held[#held + 1] = id .. state
  end
  if held[1] then
    table.sort(held)
    redis.call('HSET', key, '@', table.concat(held))
  else
    redis.call('HDEL', key, '@')
  end
end

-- Writes what was changed; `head` is the id that the thread ends with now, `last` that with which a history does.
ids.save = function(set, head, last)
  for _ = 1, math.ceil(set.new / FULL) + 1 do -- more are never needed, whatever somebody wrote under `#`
    if set.count > FULL * set.of then
      split(set)
    end
  end
  local fields = {'#', string.format('%d', set.count)}
  if set.of ~= set.was then
    fields[3], fields[4] = '/', set.of
  end
  if head then
    fields[#fields + 1], fields[#fields + 2] = '^', head
  end
  if last then
    fields[#fields + 1], fields[#fields + 2] = '%', last
  end
  for at in pairs(set.changed) do
    fields[#fields + 1] = set.name[at] or at
    fields[#fields + 1] = joined(set, at)
  end
  for from = 1, #fields, 1000 do
    redis.call('HSET', set.key, unpack(fields, from, math.min(from + 999, #fields)))
  end
end

-- Has messages known as sealed at this time. A record of day 65535 names one of which a rest is sealed: it is known or is not.
ids.seal = function(set, records, now)
  local day = math.floor(now / DAY)
  local on = string.char(math.floor(day / 256) % 256, day % 256)
  for i = 1, #records do
    local record = ids.find(set, sub(records[i], 1, 7))
    if record or sub(records[i], 8, 9) ~= '\255\255' then
      record = record or records[i]
      ids.put(set, sub(record, 1, 7) .. on .. sub(record, 10))
    end
  end
end

-- Records that come one behind the other, as a list.
ids.listed = function(text)
  local records = {}
  for place = 1, #text, RECORD do
    records[#records + 1] = sub(text, place, place + RECORD - 1)
  end
  return records
end

return ids

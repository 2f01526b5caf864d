-- erase(scope, record, tokens, chunks, observations, reflections, draft, rejected, [reflected]..., [messages, known, thread]..., [chunk, sealed, segment, new_chunk, new_sealed]..., [source, segment, new_chunk, new_sealed]..., [source, segment]...; word, epoch, fresh_epoch, seq, generation, listed, last, pins, [part]...)
-- uses ids
-- Takes what its owner names out of a memory, wherever it stands: messages that are raw, sealed or behind an observation, lines of
-- observations, of generations and of what these replaced, fields of threads. Chunks that held any of it, or may be before a model
-- that was shown it, are there under a new id and unready; so are the messages behind an observation that covered any of it (`again`):
-- what is left of them is observed again under a new id, at a place among the chunks (`at`) that fits their times. The index of whatever
-- held any of it goes.
-- Time 0: a worker reads chunk 7. Time 5: a message of it is erased, and what is left of it is chunk 8 now. Time 9: what the model made of
-- chunk 7 is refused. The record has a new epoch, so that no reflection that was thought from what is gone is committed.
-- Ids of erased messages stay known (`records`), as if they had been sealed now: no history brings them back.
-- What could not be observed is in the quarantine too: that must be as it was read, with so many entries `listed` and this one `last`.
-- The parts are eight lists, each behind its length, the second to the sixth in the order of the keys; `gone` and all other lists in
-- them are behind their length too: entries of the quarantine, histories (lines: seq, was, becomes), threads (name, count, weight, raw,
-- fields, records), chunks (id, new_id, tokens, left, gone), again (id, seq, tokens, observed, new_id, at, weight, left, gone, thread),
-- sources (gone), observations (seq, becomes, tokens), generations (n, becomes, tokens). What becomes '' is removed.
-- What is pinned afterwards is `pins` ('' = nothing): pinning moves the seq on, so what it was is proved by that.
-- Returns 'cleared', or 'superseded' when anything was not as it was read.
local scope, record, tokens, chunks, observations, reflections, draft, rejected = unpack(KEYS, 1, 8)
local word, epoch, fresh, seq, generation, listed, last, pins = unpack(ARGV, 1, 8)
local next_key, next_arg = 8, 8
local function key()
  next_key = next_key + 1
  return KEYS[next_key]
end
local function arg()
  next_arg = next_arg + 1
  return ARGV[next_arg]
end
local function several(n, read)
  local found = {}
  while #found < tonumber(n) and next_arg < #ARGV do -- as many as were given, whatever number says how many they are
    found[#found + 1] = read()
  end
  return found
end
local function named(n, held)
  local found = several(n, arg)
  for i = 1, #found do
    if not redis.call('ZSCORE', held, found[i]) then
      return nil
    end
  end
  return found
end
local function drop(held, members)
  for i = 1, #members, 1000 do
    redis.call('ZREM', held, unpack(members, i, math.min(i + 999, #members)))
  end
end

local in_force = redis.call('GET', scope)
local version = redis.call('HMGET', record, 'epoch', 'seq', 'generation')
if (in_force and in_force ~= word) or (version[1] or '') ~= epoch or (version[2] or '0') ~= seq or (version[3] or '0') ~= generation then
  return 'superseded'
end
if redis.call('LLEN', rejected) ~= tonumber(listed) or (redis.call('LINDEX', rejected, -1) or '') ~= last then
  return 'superseded'
end
local whole, entries = true, several(arg(), arg)
local histories = several(arg(), function()
  local held = key()
  return {key = held, lines = several(arg(), function()
    local line = {seq = arg(), was = arg(), becomes = arg()}
    whole = whole and tonumber(redis.call('ZSCORE', held, line.was) or '') == tonumber(line.seq)
    return line
  end)}
end)
local threads = several(arg(), function()
  local each = {messages = key(), known = key(), hash = key(), name = arg(), count = arg(), weight = tonumber(arg())}
  each.raw = named(arg(), each.messages)
  each.fields, each.records = several(arg(), arg), ids.listed(arg())
  redis.call('HLEN', each.hash)
  local counts = redis.call('HMGET', tokens, each.name, '#' .. each.name, '*memory:' .. each.name)
  whole = whole and each.raw and (#each.raw == 0 or ((counts[2] or '0') == each.count and redis.call('ZCARD', each.messages) == tonumber(each.count)))
  each.held, each.memory = tonumber(counts[1]) or 0, counts[3]
  if whole then
    each.ids = ids.open(each.known, each.records)
  end
  return each
end)
local cut = several(arg(), function()
  local each = {chunk = key(), sealed = key(), segment = key(), new_chunk = key(), new_sealed = key(), id = arg(), new_id = arg(), tokens = tonumber(arg()), left = tonumber(arg())}
  each.gone, each.seq = named(arg(), each.sealed), redis.call('ZSCORE', chunks, each.id)
  each.is = redis.call('HMGET', each.chunk, 'thread', 'tokens', 'sealed_at')
  whole = whole and each.gone and each.seq and each.is[1] and redis.call('ZCARD', each.sealed) == each.left + #each.gone
  return each
end)
local again = several(arg(), function()
  local each = {source = key(), segment = key(), new_chunk = key(), new_sealed = key(), id = arg(), seq = arg(), tokens = tonumber(arg()), observed = tonumber(arg()), new_id = arg(), at = arg(), weight = tonumber(arg()), left = tonumber(arg())}
  each.gone, each.thread = named(arg(), each.source), arg()
  whole = whole and each.gone and redis.call('ZCARD', each.source) == each.left + #each.gone and redis.call('ZCOUNT', observations, each.seq, each.seq) == 1
  return each
end)
local sources = several(arg(), function()
  local held, segment = key(), key()
  redis.call('ZCARD', held)
  return {key = held, segment = segment, gone = several(arg(), arg)}
end)
local notes = several(arg(), function()
  local each = {seq = arg(), becomes = arg(), tokens = tonumber(arg())}
  whole = whole and redis.call('ZCOUNT', observations, each.seq, each.seq) == 1
  return each
end)
local texts = several(arg(), function()
  local each = {n = arg(), becomes = arg(), tokens = arg()}
  whole = whole and redis.call('ZCOUNT', reflections, each.n, each.n) == 1
  return each
end)
if not whole then
  return 'superseded'
end
redis.call('ZCARD', chunks)

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
for _, entry in ipairs(entries) do
  redis.call('LREM', rejected, 0, entry)
end
local taken, chunk_tokens, grown, count, observed, messages = 0, 0, 0, 0, 0, 0
for _, each in ipairs(histories) do
  for _, line in ipairs(each.lines) do
    if line.becomes ~= '' then -- before the other goes: an empty set would lose its time to live
      redis.call('ZADD', each.key, line.seq, line.becomes)
    end
    redis.call('ZREM', each.key, line.was)
  end
end
for _, each in ipairs(threads) do
  drop(each.messages, each.raw)
  local left, weight = tonumber(each.count) - #each.raw, #each.raw == tonumber(each.count) and each.held or math.min(each.weight, each.held)
  if #each.raw > 0 and left == 0 then
    redis.call('HDEL', tokens, each.name, '#' .. each.name)
  elseif #each.raw > 0 then
    redis.call('HSET', tokens, each.name, string.format('%d', each.held - weight), '#' .. each.name, left)
  end
  local counted = #each.raw > 0 and each.memory ~= 'off' and each.memory ~= 'read_only' -- in `*`
  taken = taken + (counted and weight or 0)
  if #each.fields > 0 then
    redis.call('HDEL', each.hash, unpack(each.fields))
  end
  if #each.records > 0 then
    ids.seal(each.ids, each.records, now)
    ids.save(each.ids)
    redis.call('HSET', each.known, '~', 1, 'd' .. math.floor(now / 86400000), string.format('%d', now))
  end
end
if taken > 0 then
  redis.call('HSET', tokens, '*', string.format('%d', math.max((tonumber(redis.call('HGET', tokens, '*') or '') or 0) - taken, 0)))
end
local function made(each, from, thread, at, weight, sealed_at)
  drop(from, each.gone)
  if each.left > 0 then
    redis.call('RENAME', from, each.new_sealed)
    redis.call('PERSIST', each.new_sealed)
    redis.call('HSET', each.new_chunk, 'thread', thread, 'state', 'sealed', 'seq', at, 'tokens', string.format('%d', weight), 'messages', each.left, 'attempts', 0, 'sealed_at', sealed_at)
    redis.call('ZADD', chunks, at, each.new_id)
    chunk_tokens = chunk_tokens + weight
  end
end
for _, each in ipairs(cut) do
  redis.call('ZREM', chunks, each.id)
  redis.call('UNLINK', each.chunk, each.segment)
  chunk_tokens = chunk_tokens - tonumber(each.is[2])
  made(each, each.sealed, each.is[1], each.seq, each.tokens, each.is[3] or '0')
end
for _, each in ipairs(again) do
  redis.call('ZREMRANGEBYSCORE', observations, each.seq, each.seq)
  redis.call('UNLINK', each.segment)
  grown, count, observed, messages = grown - each.tokens, count - 1, observed - each.observed, messages - each.left - #each.gone
  made(each, each.source, each.thread, each.at, each.weight, string.format('%d', now))
end
for _, each in ipairs(sources) do
  drop(each.key, each.gone)
  redis.call('UNLINK', each.segment)
end
for _, each in ipairs(notes) do
  redis.call('ZREMRANGEBYSCORE', observations, each.seq, each.seq)
  if each.becomes == '' then
    count = count - 1
  else
    redis.call('ZADD', observations, each.seq, each.becomes)
  end
  grown = grown + each.tokens
end
for _, each in ipairs(texts) do
  redis.call('ZREMRANGEBYSCORE', reflections, each.n, each.n)
  redis.call('ZADD', reflections, each.n, each.becomes)
  if each.n == generation then
    redis.call('HSET', record, 'reflection_tokens', each.tokens)
  end
end
redis.call('UNLINK', draft)
if epoch ~= '' then
  redis.call('HSET', record, 'epoch', fresh)
  redis.call('HDEL', record, 'pins')
  if pins ~= '' then
    redis.call('HSET', record, 'pins', pins)
  end
  redis.call('HDEL', record, 'indexed') -- the sweep makes an index of what is left
  redis.call('HINCRBY', record, 'seq', #again + 1)
  for field, by in pairs({chunk_tokens = chunk_tokens, observation_tokens = grown, observation_count = count, observed_tokens = observed, observed_messages = messages}) do
    redis.call('HINCRBY', record, field, string.format('%d', by))
  end
end
return 'cleared'

-- alias(scope, record, tokens, threads, rejected, draft, aliases, chunks, observations, reflections, messages, known, state, sources, to_messages, to_known, to_state, to_sources, working, [reflected]..., [own_known]..., [chunk, sealed, segment, new_chunk, new_sealed]..., [segment]...; word, epoch, fresh_epoch, seq, generation, listed, last, pins, alias, thread, [part]...)
-- uses ids
-- Makes one thread an alias of another: what it holds is that thread's from here on, whatever tier it stands in, and so is all that
-- will be written or read under its name. Chunks that no model has answered for are there under a new id, as after an erase: what
-- one makes of the old ones is refused. The record has a new epoch (`fresh_epoch`; '' = nothing of it changes), so that nothing that
-- was thought of the thread by its old name is committed.
-- Of what is raw, each with its record and its tokens, `gone` are those that the thread knows already, word for word. Any other id that
-- both know is refused: there would be two messages of one id.
-- Time 0: a client reads what thread-2 holds. Time 1: a message of it is pushed. Time 2: it would be left behind where nobody looks;
-- its number is not as it was read, and nothing changes.
-- Both must leave and read memory alike (`*memory:`), unless the alias holds nothing and was given no mode.
-- The parts are eight lists, each behind its length, some in the order of the keys: raw (member, record, tokens, gone), histories
-- (lines: seq, was, becomes), aliases of the alias (name), chunks (id, new_id or '' = it is ready, observation), segments of
-- observations (nothing but their keys), observations (seq, was, becomes), generations (n, becomes, tokens), quarantined (index, becomes),
-- fields of working memories (name, was, becomes; '' = there is none).
-- Returns 'aliased', or 'superseded' when anything is no longer as it was read.
local scope, record, tokens, threads, rejected, draft, aliases, chunks, observations, reflections, messages, known, state, sources, to_messages, to_known, to_state, to_sources, working = unpack(KEYS, 1, 19)
local word, epoch, fresh, seq, generation, listed, last, pins, alias, thread = unpack(ARGV, 1, 10)
local next_key, next_arg = 19, 10
local function key()
  next_key = next_key + 1
  return KEYS[next_key]
end
local function arg()
  next_arg = next_arg + 1
  return ARGV[next_arg]
end
local function several(read)
  local found, n = {}, tonumber(arg()) or 0
  while #found < n and next_arg <= #ARGV do -- as many as were given, whatever number says how many they are
    found[#found + 1] = read()
  end
  return found
end

local in_force = redis.call('GET', scope)
local version = redis.call('HMGET', record, 'epoch', 'seq', 'generation')
if (in_force and in_force ~= word) or (version[1] or '') ~= epoch or (version[2] or '0') ~= seq or (version[3] or '0') ~= generation then
  return 'superseded'
end
if redis.call('LLEN', rejected) ~= tonumber(listed) or (redis.call('LINDEX', rejected, -1) or '') ~= last then
  return 'superseded'
end
local whole, gone, weight = true, {}, 0
local raw = several(function()
  local each = {member = arg(), record = arg(), tokens = tonumber(arg()), gone = arg() == '1'}
  each.score = redis.call('ZSCORE', messages, each.member)
  whole = whole and each.score
  if each.gone then
    gone[string.sub(each.record, 1, 7)], weight = string.sub(each.record, 10), weight + each.tokens
  end
  return each
end)
local function line(held)
  local each = {seq = arg(), was = arg(), becomes = arg()}
  whole = whole and tonumber(redis.call('ZSCORE', held, each.was) or '') == tonumber(each.seq)
  return each
end
local histories = several(function()
  local held = key()
  return {key = held, lines = several(function() return line(held) end)}
end)
local own, names = several(function() return {known = key(), name = arg()} end), {}
for _, each in ipairs(own) do
  names[each.name] = true
end
local standing = redis.call('HGETALL', aliases)
for i = 1, #standing, 2 do
  if standing[i] == alias or standing[i] == thread or (standing[i + 1] == alias) ~= (names[standing[i]] or false) then
    return 'superseded'
  end
end
local cut = several(function()
  local each = {chunk = key(), sealed = key(), segment = key(), new_chunk = key(), new_sealed = key(), id = arg(), new_id = arg(), observation = arg()}
  each.is, each.seq = redis.call('HMGET', each.chunk, 'thread', 'state', 'tokens', 'messages', 'sealed_at'), redis.call('ZSCORE', chunks, each.id)
  whole = whole and each.seq and each.is[1] == alias and each.is[2] == (each.new_id == '' and 'ready' or 'sealed') and redis.call('EXISTS', each.sealed) == 1
  return each
end)
local segments = several(function() arg() return key() end)
local notes = several(function() return line(observations) end)
local texts = several(function()
  local each = {n = arg(), becomes = arg(), tokens = arg()}
  whole = whole and redis.call('ZCOUNT', reflections, each.n, each.n) == 1
  return each
end)
local entries = several(function() return {at = arg(), becomes = arg()} end)
local kept = several(function()
  local each = {name = arg(), was = arg(), becomes = arg()}
  whole = whole and (redis.call('HGET', working, each.name) or '') == each.was
  return each
end)
local counts = redis.call('HMGET', tokens, alias, '#' .. alias, '*', thread, '#' .. thread, '*memory:' .. alias, '*memory:' .. thread)
if not whole or redis.call('ZCARD', messages) ~= #raw or (tonumber(counts[2] or '') or 0) ~= #raw then
  return 'superseded'
end
local held, records, fields = redis.call('HGETALL', known), {}, {}
for i = 1, #held, 2 do
  if string.match(held[i], '^%d+$') then
    for _, each in ipairs(ids.listed(held[i + 1])) do
      records[#records + 1] = each
    end
  elseif string.match(held[i], '^d%d+$') or held[i] == '~' then
    fields[held[i]] = held[i + 1]
  end
end
local function mode(field) -- any other value counts as full
  return (field == 'off' or field == 'read_only' or field == 'write_only') and field
end
if (counts[6] or #raw > 0 or #records > 0) and mode(counts[6]) ~= mode(counts[7]) then
  return 'superseded'
end
local set = ids.open(to_known, records)
if set.alias then
  return 'superseded'
end
for _, each in ipairs(records) do
  local id = string.sub(each, 1, 7)
  local was = ids.find(set, id)
  if (was and string.sub(was, 10)) ~= gone[id] then
    return 'superseded'
  end
end
redis.call('ZCARD', to_messages)
redis.call('ZCARD', threads)
local stood, stands = redis.call('HGETALL', state), redis.call('HGETALL', to_state)
local behind, lasting = redis.call('ZRANGE', sources, 0, -1, 'WITHSCORES'), math.max(redis.call('PTTL', sources), redis.call('PTTL', to_sources))
local at = redis.call('ZSCORE', threads, alias)

for _, each in ipairs(raw) do
  if not each.gone then
    redis.call('ZADD', to_messages, each.score, each.member)
  end
end
redis.call('UNLINK', messages)
if #records > 0 then
  for _, each in ipairs(records) do
    if not gone[string.sub(each, 1, 7)] then
      ids.put(set, each)
    end
  end
  ids.save(set)
  redis.call('HDEL', to_known, '^', '%') -- nobody can say how the two went on
  local there = ids.retracted(to_known)
  for id, how in pairs(ids.retracted(known)) do
    if not gone[id] then
      there[id] = how
    end
  end
  ids.retract(to_known, there)
  for field, value in pairs(fields) do
    local was = tonumber(redis.call('HGET', to_known, field) or '') or 0
    redis.call('HSET', to_known, field, string.format('%d', math.max(was, tonumber(value) or 0)))
  end
end
redis.call('UNLINK', known)
redis.call('HSET', known, '=', thread)
redis.call('HSET', aliases, alias, thread)
for _, each in ipairs(own) do
  redis.call('HSET', each.known, '=', thread)
  redis.call('HSET', aliases, each.name, thread)
end

if #raw > 0 then
  local moved, n = tonumber(counts[1] or '') or 0, #raw
  for _, each in ipairs(raw) do
    n = n - (each.gone and 1 or 0)
  end
  local left = n > 0 and math.max(moved - weight, 0) or 0
  redis.call('HDEL', tokens, alias, '#' .. alias)
  if n > 0 then
    redis.call('HSET', tokens, thread, string.format('%d', (tonumber(counts[4] or '') or 0) + left), '#' .. thread, string.format('%d', (tonumber(counts[5] or '') or 0) + n))
  end
  if counts[7] ~= 'off' and counts[7] ~= 'read_only' then
    redis.call('HSET', tokens, '*', string.format('%d', math.max((tonumber(counts[3] or '') or 0) - moved + left, 0)))
  end
end
if #records > 0 and redis.call('HEXISTS', tokens, '*away:' .. alias) == 0 then -- a message brings an archived thread back
  redis.call('HDEL', tokens, '*away:' .. thread)
end
redis.call('HDEL', tokens, '*wake:' .. alias, '*away:' .. alias, '*memory:' .. alias)
redis.call('ZREM', threads, alias)
if at then
  redis.call('ZADD', threads, 'GT', at, thread)
end
local now = {}
for i = 1, #stands, 2 do
  now[stands[i]] = stands[i + 1]
end
local was = {}
for i = 1, #stood, 2 do
  was[stood[i]] = stood[i + 1]
end
for _, noted in ipairs({'current_task', 'suggested_response'}) do -- the newer one, whole
  if (tonumber(was[noted .. '_at'] or '') or 0) > (tonumber(now[noted .. '_at'] or '') or 0) then
    for _, field in ipairs({noted, noted .. '_at', noted .. '_from'}) do
      redis.call('HSET', to_state, field, was[field] or '')
    end
  end
  was[noted], was[noted .. '_at'], was[noted .. '_from'] = nil, nil, nil
end
local given = (was.title or '') ~= '' and was.title_by ~= 'observer'
local titled = (now.title or '') ~= '' and not (given and now.title_by == 'observer') -- a given title before a suggested one
for _, field in ipairs(titled and {} or {'title', 'title_by', 'title_at', 'title_from'}) do
  redis.call('HDEL', to_state, field)
  now[field] = nil
end
for field, value in pairs(was) do
  if not now[field] and not (titled and string.sub(field, 1, 5) == 'title') then
    redis.call('HSET', to_state, field, value)
  end
end
redis.call('UNLINK', state)
for i = 1, #behind, 2 do
  redis.call('ZADD', to_sources, behind[i + 1], behind[i])
end
if #behind > 0 and lasting > 0 then
  redis.call('PEXPIRE', to_sources, string.format('%d', lasting))
end
redis.call('UNLINK', sources)

for _, each in ipairs(histories) do
  for _, line_ in ipairs(each.lines) do -- before the other goes: an empty set would lose its time to live
    redis.call('ZADD', each.key, line_.seq, line_.becomes)
    redis.call('ZREM', each.key, line_.was)
  end
end
for _, each in ipairs(cut) do
  redis.call('UNLINK', each.segment)
  if each.new_id == '' then
    redis.call('HSET', each.chunk, 'thread', thread, 'observation', each.observation)
  else
    local size, count, sealed_at = unpack(each.is, 3, 5)
    redis.call('ZREM', chunks, each.id)
    redis.call('UNLINK', each.chunk)
    redis.call('RENAME', each.sealed, each.new_sealed)
    redis.call('HSET', each.new_chunk, 'thread', thread, 'state', 'sealed', 'seq', each.seq, 'tokens', size, 'messages', count, 'attempts', 0, 'sealed_at', sealed_at or 0)
    redis.call('ZADD', chunks, each.seq, each.new_id)
  end
end
for _, name in ipairs(segments) do
  redis.call('UNLINK', name)
end
for _, each in ipairs(notes) do
  redis.call('ZREM', observations, each.was)
  redis.call('ZADD', observations, each.seq, each.becomes)
end
for _, each in ipairs(texts) do
  redis.call('ZREMRANGEBYSCORE', reflections, each.n, each.n)
  redis.call('ZADD', reflections, each.n, each.becomes)
  if each.n == generation then
    redis.call('HSET', record, 'reflection_tokens', each.tokens)
  end
end
for _, each in ipairs(entries) do
  redis.call('LSET', rejected, each.at, each.becomes)
end
for _, each in ipairs(kept) do
  if each.becomes == '' then
    redis.call('HDEL', working, each.name)
  else
    redis.call('HSET', working, each.name, each.becomes)
  end
end
if fresh ~= '' then
  redis.call('UNLINK', draft)
  redis.call('HSET', record, 'epoch', fresh)
  redis.call('HINCRBY', record, 'seq', 1)
  redis.call('HDEL', record, 'pins', 'indexed') -- the sweep makes an index of what has a new name
  if pins ~= '' then
    redis.call('HSET', record, 'pins', pins)
  end
elseif word == 'thread' then -- requests of a memory that is not there
  redis.call('UNLINK', record)
end
return 'aliased'

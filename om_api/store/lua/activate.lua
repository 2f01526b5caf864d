-- activate(record, chunks, observations, [chunk, sealed, source, thread, sources, known]...; epoch, activation, n, ttl, [id, observation, tokens, current_task, suggested_response]...)
-- Turns the first n of the named chunks into observations with fresh seqs, so that activation only ever appends; the messages
-- stay where they are under a new name (RENAME), which costs the same for 5 as for 5,000. The other named chunks are those the
-- caller saw and leaves: none of them may be an earlier one of the same thread, and no chunk that nobody named may be earlier.
-- Time 0: a client and a worker both see chunk 7 ready. Time 1: the worker activates it. Time 2: the client's call names a chunk
-- that is gone; nothing changes, it reads again and finds the observation.
-- Returns 'activated' or 'superseded'.
local record, chunks, observations, epoch, activation, n, ttl = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

local version = redis.call('HMGET', record, 'epoch', 'activation', 'tidy_at')
if version[1] ~= epoch then
  return 'superseded'
end
if version[2] == activation then
  return 'activated'
end
local listed, seqs = redis.call('ZRANGE', chunks, 0, -1, 'WITHSCORES'), {}
for i = 1, #listed, 2 do
  seqs[listed[i]] = tonumber(listed[i + 1])
end
local known, picked, days, last, threads = {}, {}, {}, 0, {}
for i = 1, (#KEYS - 3) / 6 do
  local id = ARGV[i * 5]
  local chunk, sealed, source, thread, sources, ids = unpack(KEYS, i * 6 - 2, i * 6 + 3)
  local is = redis.call('HMGET', chunk, 'state', 'thread', 'tokens', 'messages', 'sealed_at')
  if i <= n then
    -- '' is what a caller gives that saw the chunk before it was ready: it has nothing to put in its place
    if is[1] ~= 'ready' or ARGV[i * 5 + 1] == '' or not seqs[id] or redis.call('EXISTS', sealed) == 0 or redis.call('EXISTS', source) == 1 then
      return 'superseded'
    end
    if not threads[thread] then
      redis.call('HLEN', thread)
      redis.call('ZCARD', sources)
      redis.call('HLEN', ids)
      threads[thread] = {sources = sources, says = {}}
    end
    days[i] = math.floor((tonumber(is[5]) or 0) / 86400000)
    picked[i] = {id = id, seq = seqs[id], tokens = tonumber(is[3]), messages = tonumber(is[4])}
    last = math.max(last, seqs[id])
  end
  known[id] = {thread = is[2] or '', picked = i <= n}
end
local earliest = {}
for i = 1, #listed, 2 do
  local chunk = known[listed[i]]
  if seqs[listed[i]] > last then
    break
  end
  if not chunk or (chunk.picked and earliest[chunk.thread]) then
    return 'superseded'
  end
  if not chunk.picked then
    earliest[chunk.thread] = true
  end
end
redis.call('ZCARD', observations)
if n < 1 then
  return 'superseded'
end

local time = redis.call('TIME')
local now = string.format('%d', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
local seq = redis.call('HINCRBY', record, 'seq', n) - n
local weight, messages, grown = 0, 0, 0
table.sort(picked, function(a, b) return a.seq < b.seq end)
local place = {}
for rank, chunk in ipairs(picked) do
  place[chunk.id] = seq + rank
  weight, messages = weight + chunk.tokens, messages + chunk.messages
end
for i = 1, n do
  local id, observation, tokens, task, suggested = unpack(ARGV, i * 5, i * 5 + 4)
  redis.call('ZADD', observations, place[id], observation)
  redis.call('ZREM', chunks, id)
  local chunk, sealed, source, thread, sources, ids = unpack(KEYS, i * 6 - 2, i * 6 + 3)
  redis.call('UNLINK', chunk)
  redis.call('RENAME', sealed, source)
  redis.call('EXPIRE', source, ttl)
  redis.call('ZADD', sources, now, id)
  redis.call('HSET', ids, 'd' .. days[i], now)
  local says = threads[thread].says
  if suggested ~= '' or task ~= '' then
    says.current_task, says.suggested_response = task ~= '' and task or says.current_task, suggested
  end
  grown = grown + tonumber(tokens)
end
for thread, of in pairs(threads) do
  redis.call('ZREMRANGEBYSCORE', of.sources, '-inf', string.format('%d', tonumber(now) - ttl * 1000))
  redis.call('EXPIRE', of.sources, ttl)
  for field, text in pairs(of.says) do
    redis.call('HSET', thread, field, text)
  end
end
redis.call('HSET', record, 'activation', activation, 'observed_at', now, 'updated_at', now)
if not version[3] then -- when the first of their ids may be forgotten
  redis.call('HSET', record, 'tidy_at', string.format('%d', tonumber(now) + ttl * 1000))
end
redis.call('HINCRBY', record, 'chunk_tokens', string.format('%d', -weight)) -- Redis 7.0 writes Lua's -0 as '-0', and refuses it
redis.call('HINCRBY', record, 'observation_tokens', grown)
redis.call('HINCRBY', record, 'observation_count', n)
redis.call('HINCRBY', record, 'observed_tokens', weight)
redis.call('HINCRBY', record, 'observed_messages', messages)
return 'activated'

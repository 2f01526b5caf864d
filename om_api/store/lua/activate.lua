-- activate(record, chunks, observations, [chunk, sealed, source, thread, sources, known, messages, segment]...; epoch, activation, n, ttl, [id, observation, tokens, current_task, suggested_response]..., [at, from, spoken, title]..., until)
-- Turns the first n of the named chunks into observations with fresh seqs, so that activation only ever appends; the messages
-- stay where they are under a new name (RENAME), which costs the same for 5 as for 5,000. The other named chunks are those the
-- caller saw and leaves: none of them may be an earlier one of the same thread, and no chunk that nobody named may be earlier.
-- Time 0: a client and a worker both see chunk 7 ready. Time 1: the worker activates it. Time 2: the client's call names a chunk
-- that is gone; nothing changes, it reads again and finds the observation.
-- [at, from, spoken, title] is there for each of the first n: the time and the id of the newest message it covers, when the Actor last
-- spoke in it, and the title that was suggested ('' = none), which takes the place of a suggested one, or of none.
-- `messages` are what is unsealed of its thread. A task or a suggestion is '' where the Observer said nothing
-- of it, so that what stood stands; else '=' and its text, of which there is none where it said that there is none.
-- A suggestion goes with its task, and with the Actor's next words; a new one is set only of the newest that a thread has. What
-- was sealed since the caller looked may be anybody's, so nothing before it counts as the newest.
-- An observation says when it came in force, by the time at which its caller looked: after `until` (ms, 0: no such end) the caller
-- looks again, so that whoever composes this memory into a context may take what is older than that for in force.
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
local groups = (#KEYS - 3) / 8
for i = 1, groups do
  local id = ARGV[i * 5]
  local chunk, sealed, source, thread, sources, ids, messages = unpack(KEYS, i * 8 - 4, i * 8 + 2)
  local is = redis.call('HMGET', chunk, 'state', 'thread', 'tokens', 'messages', 'sealed_at')
  if i <= n then
    -- '' is what a caller gives that saw the chunk before it was ready: it has nothing to put in its place
    if is[1] ~= 'ready' or ARGV[i * 5 + 1] == '' or not seqs[id] or redis.call('EXISTS', sealed) == 0 or redis.call('EXISTS', source) == 1 then
      return 'superseded'
    end
    if not threads[thread] then
      redis.call('ZCARD', sources)
      redis.call('HGET', ids, '#')
      local stood = redis.call('HMGET', thread, 'suggested_response', 'suggested_response_at', 'title', 'title_by')
      local unsealed = redis.call('ZRANGE', messages, -1, -1, 'WITHSCORES')[2]
      threads[thread] = {
        sources = sources, says = {}, unsealed = tonumber(unsealed) or -1,
        suggested = (stood[1] or '') ~= '', suggested_at = tonumber(stood[2]) or 0,
        untitled = (stood[3] or '') == '' or stood[4] == 'observer',
      }
    end
    days[i] = math.floor((tonumber(is[5]) or 0) / 86400000)
    picked[i] = {id = id, seq = seqs[id], tokens = tonumber(is[3]), messages = tonumber(is[4]), i = i, thread = is[2]}
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
local till = tonumber(ARGV[#ARGV])
local time = redis.call('TIME')
local now = string.format('%d', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
if n < 1 or (till > 0 and tonumber(now) > till) then
  return 'superseded'
end

local seq = redis.call('HINCRBY', record, 'seq', n) - n
local weight, messages, grown = 0, 0, 0
table.sort(picked, function(a, b) return a.seq < b.seq end)
local place = {}
for rank, chunk in ipairs(picked) do
  place[chunk.id] = seq + rank
  weight, messages = weight + chunk.tokens, messages + chunk.messages
end
for i = 1, n do
  local id, observation, tokens = unpack(ARGV, i * 5, i * 5 + 2)
  redis.call('ZADD', observations, place[id], observation)
  redis.call('ZREM', chunks, id)
  local chunk, sealed, source, _, sources, ids, _, segment = unpack(KEYS, i * 8 - 4, i * 8 + 3)
  redis.call('UNLINK', chunk)
  redis.call('RENAME', sealed, source)
  redis.call('EXPIRE', source, ttl)
  redis.call('EXPIRE', segment, ttl)
  redis.call('ZADD', sources, now, id)
  redis.call('HSET', ids, 'd' .. days[i], now)
  grown = grown + tonumber(tokens)
end
local newest = {}
for i = 1, #listed, 2 do
  if known[listed[i]] then
    newest[known[listed[i]].thread] = listed[i]
  else
    newest = {}
  end
end
for _, chunk in ipairs(picked) do
  local of, task, suggested = threads[KEYS[chunk.i * 8 - 1]], unpack(ARGV, chunk.i * 5 + 3, chunk.i * 5 + 4)
  local at, from, spoken, title = unpack(ARGV, groups * 5 + 1 + chunk.i * 4, groups * 5 + 4 + chunk.i * 4)
  local says = of.says
  if title ~= '' and of.untitled then
    says.title, says.title_by, says.title_at, says.title_from = title, 'observer', at, from
  end
  if task ~= '' then
    says.current_task, says.current_task_at, says.current_task_from = string.sub(task, 2), at, from
  end
  if task ~= '' or suggested ~= '' or (of.suggested and tonumber(spoken) >= math.max(of.suggested_at, 1)) then
    local ahead = newest[chunk.thread] ~= chunk.id or of.unsealed >= tonumber(at)
    says.suggested_response, says.suggested_response_at, says.suggested_response_from = ahead and '' or string.sub(suggested, 2), at, from
  end
end
for thread, of in pairs(threads) do
  redis.call('ZREMRANGEBYSCORE', of.sources, '-inf', string.format('%d', tonumber(now) - ttl * 1000))
  redis.call('EXPIRE', of.sources, ttl)
  redis.call('HSET', thread, 'observed_at', now)
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

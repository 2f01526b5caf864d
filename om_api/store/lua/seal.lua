-- seal(scope, record, tokens, messages, chunks, chunk, sealed, source, threads, known, state; word, epoch, fresh_epoch, id, thread, weight, records, own_calls, [member]...)
-- uses ids
-- Takes the named members out of the raw set into a new chunk, so that they can be observed exactly once. All of them must be
-- there and counted: while the raw set holds a member that nobody counted, any of them could be that one, and nothing moves.
-- Their ids are known as sealed from now on (`records`, one behind the other, of what an older version did not write down).
-- `own_calls`: ids of calls of own tools that no sealed result of the thread answers ('' = none to note).
-- Time 0: a worker plans a chunk. Time 1: the thread's owner has it leave no memory (`*memory:` is off or read_only). Time 2: the chunk would
-- be observed all the same; nothing moves.
-- Makes the record when there is none (epoch ''). The chunk's id is random and never reused, so a repeated call finds it.
-- Returns {'sealed', seq} or {'superseded'}.
local scope, record, tokens, messages, chunks, chunk, sealed, source, threads, known, state = unpack(KEYS, 1, 11)
local word, epoch, fresh, id, thread, weight, records, own_calls = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6]), ids.listed(ARGV[7]), ARGV[8]

local was = redis.call('HGET', chunk, 'seq')
if was or redis.call('EXISTS', source) == 1 then
  return {'sealed', was or '0'}
end
local in_force = redis.call('GET', scope)
local counts = redis.call('HMGET', tokens, '#' .. thread, thread, '*', '*memory:' .. thread)
local count, held, total = tonumber(counts[1]) or 0, tonumber(counts[2]) or 0, tonumber(counts[3]) or 0
if (in_force and in_force ~= word) or (redis.call('HGET', record, 'epoch') or '') ~= epoch
    or #ARGV == 8 or redis.call('ZCARD', messages) ~= count or counts[4] == 'off' or counts[4] == 'read_only' then
  return {'superseded'}
end
local scores, n = {}, #ARGV - 8
for from = 9, #ARGV, 1000 do
  local to = math.min(from + 999, #ARGV)
  local found = redis.call('ZMSCORE', messages, unpack(ARGV, from, to))
  for i = 1, to - from + 1 do
    if not found[i] then
      return {'superseded'}
    end
    scores[from + i - 9] = found[i]
  end
end
redis.call('ZCARD', chunks)
redis.call('ZCARD', threads)
redis.call('HLEN', state)
local set = ids.open(known, records)

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local last = 0
for from = 1, n, 500 do
  local pairs_, members = {}, {}
  for i = from, math.min(from + 499, n) do
    pairs_[#pairs_ + 1] = scores[i]
    pairs_[#pairs_ + 1] = ARGV[8 + i]
    members[#members + 1] = ARGV[8 + i]
    last = math.max(last, tonumber(scores[i]))
  end
  redis.call('ZADD', sealed, unpack(pairs_))
  redis.call('ZREM', messages, unpack(members))
end
if not in_force then
  redis.call('SET', scope, word)
end
if epoch == '' then
  redis.call('HSET', record, 'schema', 1, 'epoch', fresh, 'generation', 0, 'origin', 'initial', 'created_at', string.format('%d', now))
end
ids.seal(set, records, now)
ids.save(set)
local seq = redis.call('HINCRBY', record, 'seq', 1)
redis.call('HINCRBY', record, 'chunk_tokens', weight)
redis.call('HSET', record, 'updated_at', string.format('%d', now))
redis.call('ZADD', chunks, seq, id)
redis.call('HSET', chunk, 'thread', thread, 'state', 'sealed', 'seq', seq, 'tokens', string.format('%d', weight), 'messages', n, 'attempts', 0, 'sealed_at', string.format('%d', now))
-- the caller may count by another tokenizer than who accepted the messages: the counters never go below nothing
local taken = count == n and held or math.min(weight, held)
if count == n then
  redis.call('HDEL', tokens, thread, '#' .. thread)
else
  redis.call('HSET', tokens, thread, string.format('%d', held - taken), '#' .. thread, count - n)
end
redis.call('HSET', tokens, '*', string.format('%d', math.max(total - taken, 0)))
if own_calls ~= '' then
  redis.call('HSET', state, 'own_calls', own_calls)
end
redis.call('ZADD', threads, 'GT', string.format('%d', math.min(last, now)), thread)
return {'sealed', seq}

-- retry(rejected, messages, [record, chunks, chunk, sealed, observations, source, segment, sources, draft, fresh, fresh_sealed, fresh_source, known]...; entry, member, score, [id, fresh_id, thread, placeholder, tokens, weight, records]...)
-- uses ids
-- Takes an entry out of the quarantine and gives what it holds another chance. With the two fixed keys alone: a member that was
-- never accepted goes back to the raw set, uncounted, and adoption judges it again. With the others: a message behind
-- `placeholder`, what a ready chunk says or an observation of this id, becomes a sealed chunk, under a new id; the `records` of
-- what an observation covered are of a day again that is not over.
-- Time 0: a client sees chunk 7 ready. Time 1: it is retried. Time 2: a worker observes the message anew. Time 3: the client
-- activates what it saw: were the chunk still named 7, the placeholder would stand where the observation must.
-- Returns 'busy' (adoption will say), 'sealed', or 'superseded' when the entry is gone, or the placeholder is not where it was read.
local rejected, messages, entry, member, score = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]

if #KEYS == 2 then
  if not redis.call('LPOS', rejected, entry) then
    return 'superseded'
  end
  redis.call('ZCARD', messages)
  redis.call('LREM', rejected, 1, entry)
  redis.call('ZADD', messages, 'NX', score, member)
  return 'busy'
end
local record, chunks, chunk, sealed, observations, source, segment, sources, draft, fresh, fresh_sealed, fresh_source, known = unpack(KEYS, 3, 15)
local id, fresh_id, thread, placeholder, tokens, weight, records = unpack(ARGV, 4, 10)

if redis.call('EXISTS', fresh, fresh_source) > 0 then
  return 'sealed'
end
if not redis.call('LPOS', rejected, entry) then
  return 'superseded'
end
local is = redis.call('HMGET', chunk, 'observation', 'thread', 'tokens', 'messages', 'seq', 'sealed_at')
local waits = redis.call('ZSCORE', chunks, id)
if waits and (is[1] ~= placeholder or redis.call('EXISTS', sealed) == 0) then
  return 'superseded'
end
if not waits and (not redis.call('ZSCORE', observations, placeholder) or redis.call('EXISTS', source) == 0) then
  return 'superseded'
end
redis.call('HLEN', record)
redis.call('ZCARD', sources)
records = ids.listed(records)
local set = ids.open(known, records)

redis.call('LREM', rejected, 1, entry)
-- the record's seq moves on, so that whoever planned with the old name (a clear, a migration) is superseded
local seq = redis.call('HINCRBY', record, 'seq', 1)
redis.call('UNLINK', segment)
if waits then
  redis.call('RENAME', sealed, fresh_sealed)
  redis.call('HSET', fresh, 'thread', is[2], 'state', 'sealed', 'seq', is[5], 'tokens', is[3], 'messages', is[4], 'attempts', 0, 'sealed_at', is[6] or '0')
  redis.call('ZADD', chunks, is[5], fresh_id)
  redis.call('ZREM', chunks, id)
  redis.call('UNLINK', chunk)
  return 'sealed'
end
local time = redis.call('TIME')
local now = string.format('%d', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
redis.call('RENAME', source, fresh_sealed)
redis.call('PERSIST', fresh_sealed)
redis.call('ZREM', sources, id)
redis.call('ZREM', observations, placeholder)
local n = redis.call('ZCARD', fresh_sealed)
redis.call('HSET', fresh, 'thread', thread, 'state', 'sealed', 'seq', seq, 'tokens', weight, 'messages', n, 'attempts', 0, 'sealed_at', now)
redis.call('ZADD', chunks, seq, fresh_id)
ids.seal(set, records, tonumber(now))
ids.save(set)
redis.call('HINCRBY', record, 'chunk_tokens', weight)
redis.call('HINCRBY', record, 'observed_tokens', string.format('%d', -tonumber(weight)))
redis.call('HINCRBY', record, 'observed_messages', string.format('%d', -n))
redis.call('HINCRBY', record, 'observation_tokens', string.format('%d', -tonumber(tokens)))
redis.call('HINCRBY', record, 'observation_count', -1)
redis.call('UNLINK', draft)
return 'sealed'

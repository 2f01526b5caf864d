-- split(record, chunks, chunk, sealed, first_chunk, first_sealed, second_chunk, second_sealed; id, first, second, n, first_tokens, attempts)
-- Replaces a chunk that cannot be observed by two: its first n members and the rest, with new ids and `attempts` already counted.
-- Each half gets one crash less than the chunk had, so that one more crash is enough to halve it again.
-- The rest stands where the chunk stood, the first half between it and its predecessor: both stay within any seq that a forced
-- request or a drain waits for. The record's seq moves on, so that whoever planned with the old chunk's name is superseded.
-- Returns 'split', or 'superseded' when the chunk is gone or ready, or would leave a half without messages.
local record, chunks, chunk, sealed, first_chunk, first_sealed, second_chunk, second_sealed = unpack(KEYS, 1, 8)
local id, first, second, n, first_tokens, attempts = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]

if redis.call('EXISTS', first_chunk) == 1 and redis.call('EXISTS', chunk) == 0 then
  return 'split'
end
local is = redis.call('HMGET', chunk, 'state', 'thread', 'tokens', 'sealed_at', 'crashed')
local seq = tonumber(redis.call('ZSCORE', chunks, id) or '')
local count = redis.call('ZCARD', sealed)
local crashes = tonumber(is[5] or '') or 0
if is[1] ~= 'sealed' or not seq or n < 1 or n >= count then
  return 'superseded'
end
redis.call('HLEN', record)

local earlier = redis.call('ZREVRANGEBYSCORE', chunks, '(' .. string.format('%.17g', seq), '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
local middle = ((tonumber(earlier[2] or '') or 0) + seq) / 2
local function half(key, to, name, at, from, upto, tokens)
  local members = redis.call('ZRANGE', sealed, from, upto, 'WITHSCORES')
  for i = 1, #members, 1000 do
    local pairs_ = {}
    for j = i, math.min(i + 999, #members), 2 do
      pairs_[#pairs_ + 1] = members[j + 1]
      pairs_[#pairs_ + 1] = members[j]
    end
    redis.call('ZADD', to, unpack(pairs_))
  end
  redis.call('HSET', key, 'thread', is[2], 'state', 'sealed', 'seq', string.format('%.17g', at), 'tokens', string.format('%d', tokens), 'messages', #members / 2, 'attempts', attempts, 'sealed_at', is[4] or '0')
  if crashes > 1 then
    redis.call('HSET', key, 'crashed', crashes - 1)
  end
  redis.call('ZADD', chunks, string.format('%.17g', at), name)
end
half(first_chunk, first_sealed, first, middle, 0, n - 1, first_tokens)
half(second_chunk, second_sealed, second, seq, n, -1, tonumber(is[3]) - first_tokens)
redis.call('ZREM', chunks, id)
redis.call('HINCRBY', record, 'seq', 1)
redis.call('UNLINK', chunk, sealed)
return 'split'

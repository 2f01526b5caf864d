-- snapshot(scope, tokens, record, chunks, observations, reflections, state, messages, threads, aliases, working, chunk_stem, sealed_stem, messages_stem; thread, excerpt, others, called, [field]...)
-- Reads everything a context is made of, whatever it is named at this instant: the way out when three MULTIs in a row met a chunk
-- or a thread that they had not named. Costs the server more than a MULTI does, so it is not the first way. The only script that
-- makes names: it cannot know them before it runs, and it writes nothing.
-- Returns {replies as the MULTI gives them, chunk ids, other threads}.
local scope, tokens, record, chunks, observations, reflections, state, messages, threads, aliases, working, chunk_stem, sealed_stem, messages_stem = unpack(KEYS, 1, 14)
local thread, excerpt, others, called = ARGV[1], -tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]

local replies = {
  redis.call('TIME'),
  redis.call('GET', scope),
  redis.call('HGETALL', tokens),
  redis.call('HGETALL', record),
  redis.call('ZRANGE', chunks, 0, -1, 'WITHSCORES'),
  redis.call('ZRANGE', observations, 0, -1, 'WITHSCORES'),
  redis.call('ZCARD', observations),
  redis.call('ZRANGE', reflections, -1, -1),
  redis.call('HGETALL', state),
  redis.call('ZRANGE', messages, 0, -1, 'WITHSCORES'),
  redis.call('HGET', aliases, called),
  redis.call('HMGET', working, unpack(ARGV, 5)),
}
local ids, names = {}, {}
for i = 1, #replies[5], 2 do
  ids[#ids + 1] = replies[5][i]
  replies[#replies + 1] = redis.call('HGETALL', chunk_stem .. replies[5][i])
end
for _, id in ipairs(ids) do
  replies[#replies + 1] = redis.call('ZRANGE', sealed_stem .. id, 0, -1, 'WITHSCORES')
end
for i = 1, #replies[3], 2 do
  local name = string.sub(replies[3][i], 2)
  if string.sub(replies[3][i], 1, 1) == '#' and name ~= thread and #names < others then
    names[#names + 1] = name
    replies[#replies + 1] = redis.call('ZRANGE', messages_stem .. name, excerpt, -1, 'WITHSCORES')
  end
end
replies[#replies + 1] = redis.call('ZRANGE', threads, 0, 2 * others, 'REV')
return {replies, ids, names}

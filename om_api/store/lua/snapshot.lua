-- snapshot(scope, tokens, record, chunks, observations, reflections, state, messages, threads, aliases, working, chunk_stem, sealed_stem, messages_stem, known_stem; thread, excerpt, others, called, newest, others_chunks, [field]...)
-- Reads everything a context is made of, whatever it is named at this instant: the way out when three MULTIs in a row met a chunk
-- or a thread that they had not named. Costs the server more than a MULTI does, so it is not the first way. The only script that
-- makes names: it cannot know them before it runs, and it writes nothing.
-- Returns {replies as the MULTI gives them, chunk ids, those of them whose messages were read, other threads}.
local scope, tokens, record, chunks, observations, reflections, state, messages, threads, aliases, working, chunk_stem, sealed_stem, messages_stem, known_stem = unpack(KEYS, 1, 15)
local thread, excerpt, others, called = ARGV[1], -tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local newest, others_chunks = tonumber(ARGV[5]), tonumber(ARGV[6])

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
  redis.call('ZRANGE', messages, -newest, -1, 'WITHSCORES'),
  redis.call('ZCARD', messages),
  redis.call('HGET', aliases, called),
  redis.call('HMGET', working, unpack(ARGV, 7)),
}
local ids, read, names, room = {}, {}, {}, newest - replies[11]
for i = 1, #replies[5], 2 do
  ids[#ids + 1] = replies[5][i]
  replies[#replies + 1] = redis.call('HGETALL', chunk_stem .. replies[5][i])
end
for i = #ids, 1, -1 do -- the newest first: what a context shows ends somewhere
  local of = redis.call('HMGET', chunk_stem .. ids[i], 'thread', 'messages')
  if of[1] == thread and room > 0 then
    read[#read + 1], room = ids[i], room - (tonumber(of[2]) or 0)
    replies[#replies + 1] = redis.call('ZRANGE', sealed_stem .. ids[i], 0, -1, 'WITHSCORES')
  elseif of[1] ~= thread and others_chunks > 0 then
    read[#read + 1], others_chunks = ids[i], others_chunks - 1
    replies[#replies + 1] = redis.call('ZRANGE', sealed_stem .. ids[i], excerpt, -1, 'WITHSCORES')
  end
end
for i = 1, #replies[3], 2 do
  local name = string.sub(replies[3][i], 2)
  if string.sub(replies[3][i], 1, 1) == '#' and name ~= thread and #names < others then
    names[#names + 1] = name
    replies[#replies + 1] = redis.call('ZRANGE', messages_stem .. name, excerpt, -1, 'WITHSCORES')
  end
end
for i = 0, #names do
  replies[#replies + 1] = redis.call('HGET', known_stem .. (names[i] or thread), '@')
end
replies[#replies + 1] = redis.call('ZRANGE', threads, 0, 2 * others, 'REV')
return {replies, ids, read, names}

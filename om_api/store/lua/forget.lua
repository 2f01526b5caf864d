-- forget(record, observations, source, segment, draft, rejected, known, thread, archived; epoch, seq, tokens, pinned, pins, last, archived_as, [entry]...)
-- Removes one observation, the messages behind it, their index and what the quarantine says of them, because its owner says so. The record's seq moves on: a migration that
-- read the observation must not bring it back. What was pinned of it, and stands nowhere else, is no longer (`pins`, '' = nothing).
-- What its thread says by it, whose newest message is `last`, goes too: a task, a suggested response, a title that was suggested.
-- Time 0: a client brings the archived messages back, and plans to forget their observation. Time 1: its hold on the resource expires, and a
-- worker archives them again, under the name `archived_as`. Time 2: nothing changes; the client brings them back and repeats it.
-- Returns 'cleared', or 'superseded' when it is not (or no longer) among the observations, its messages are archived, or the pins changed.
local record, observations, source, segment, draft, rejected, known, thread, archived = unpack(KEYS, 1, 9)
local epoch, seq, tokens, pinned, pins, last, archived_as = unpack(ARGV, 1, 7)

local version = redis.call('HMGET', record, 'epoch', 'pins')
if version[1] ~= epoch or (version[2] or '') ~= pinned or redis.call('ZCOUNT', observations, seq, seq) ~= 1 then
  return 'superseded'
end
if redis.call('ZSCORE', archived, archived_as) then
  return 'superseded'
end
redis.call('LLEN', rejected)
if redis.call('HEXISTS', known, '#') == 1 then
  redis.call('HSET', known, '~', 1)
end
redis.call('ZREMRANGEBYSCORE', observations, seq, seq)
for _, noted in ipairs({'current_task', 'suggested_response', 'title'}) do
  if last ~= '' and redis.call('HGET', thread, noted .. '_from') == last then
    redis.call('HDEL', thread, noted, noted .. '_at', noted .. '_from', noted .. '_by')
  end
end
if last ~= '' then
  redis.call('HDEL', thread, 'retracted', 'valid_again') -- quotes of its messages may be among them
end
for slot = 8, #ARGV do
  redis.call('LREM', rejected, 0, ARGV[slot])
end
redis.call('UNLINK', source, segment, draft)
redis.call('HINCRBY', record, 'observation_tokens', string.format('%d', -tonumber(tokens)))
if pins ~= pinned then
  redis.call('HDEL', record, 'pins')
  if pins ~= '' then
    redis.call('HSET', record, 'pins', pins)
  end
end
redis.call('HINCRBY', record, 'observation_count', -1)
redis.call('HINCRBY', record, 'seq', 1)
return 'cleared'

-- add_line(scope, record, tokens, observations, threads, aliases; word, epoch, fresh_epoch, fresh_key, thread, member, weight, seq)
-- Appends an observation that somebody wrote, or that another memory shares, and that covers no message; makes the record when there is
-- none (epoch ''). A member of what somebody wrote has a new id, so a repeated call finds it. Whether it was shared before the caller
-- has looked up in what it read, up to `seq` ('' = nobody shares it).
-- Time 0: two workers read that a note is not there yet. Time 1: the first appends it. Time 2: the second names the seq before that; nothing
-- changes, it reads again and finds it.
-- Time 0: somebody notes a line of thread t-2. Time 1: t-2 becomes an alias of t-1. Time 2: the line would be of a thread that nobody reads.
-- Returns 'added', 'superseded' when the memory is another than the one that was read or the thread has become an alias, or 'busy' where
-- something is shared with a memory that is paused.
local scope, record, tokens, observations, threads, aliases = unpack(KEYS, 1, 6)
local word, epoch, fresh, fresh_key, thread, member, weight, seq = unpack(ARGV, 1, 8)
local shared = seq ~= ''

if redis.call('ZSCORE', observations, member) then
  return 'added'
end
local in_force, version = redis.call('GET', scope), redis.call('HMGET', record, 'epoch', 'seq')
if (in_force and in_force ~= word) or (version[1] or '') ~= epoch or redis.call('HEXISTS', aliases, thread) == 1 then
  return 'superseded'
end
if shared and tonumber(version[2] or 0) ~= tonumber(seq) then
  return 'superseded'
end
if shared and redis.call('HEXISTS', tokens, '*paused') == 1 then
  return 'busy'
end
redis.call('HLEN', tokens)
redis.call('ZCARD', threads)

local time = redis.call('TIME')
local now = string.format('%d', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
if not in_force then
  redis.call('SET', scope, word)
end
if epoch == '' then
  redis.call('HSET', record, 'schema', 1, 'epoch', fresh, 'generation', 0, 'origin', 'initial', 'created_at', now)
end
redis.call('HSETNX', tokens, '*key', fresh_key)
redis.call('ZADD', observations, redis.call('HINCRBY', record, 'seq', 1), member)
redis.call('HINCRBY', record, 'observation_tokens', weight)
redis.call('HINCRBY', record, 'observation_count', 1)
redis.call('HSET', record, 'updated_at', now, unpack(shared and {'shared_in', now} or {}))
redis.call('ZADD', threads, 'NX', now, thread)
return 'added'

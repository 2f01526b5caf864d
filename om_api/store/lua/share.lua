-- share(scope, record, tokens, observations, threads, aliases; word, epoch, seq, fresh_epoch, fresh_key, thread, member, weight)
-- Appends what another memory shares with this one, which covers no message; makes the record when there is none (epoch '').
-- Whether it was shared before, the caller has looked up in what it read: nothing was appended since while `seq` stands.
-- Time 0: two workers read that nothing is there yet. Time 1: the first appends it. Time 2: the second names the seq before that;
-- nothing changes, it reads again and finds it.
-- Returns 'added', 'superseded' when the memory is another than the one that was read or the thread is an alias, or 'busy' while it is paused.
local scope, record, tokens, observations, threads, aliases = unpack(KEYS, 1, 6)
local word, epoch, seq, fresh, fresh_key, thread, member, weight = unpack(ARGV, 1, 8)

local in_force, version = redis.call('GET', scope), redis.call('HMGET', record, 'epoch', 'seq')
if (in_force and in_force ~= word) or (version[1] or '') ~= epoch or tonumber(version[2] or 0) ~= tonumber(seq) or redis.call('HEXISTS', aliases, thread) == 1 then
  return 'superseded'
end
if redis.call('HEXISTS', tokens, '*paused') == 1 then
  return 'busy'
end
redis.call('ZCARD', threads)
redis.call('ZCARD', observations)

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
redis.call('HSET', record, 'shared_in', now, 'updated_at', now)
redis.call('ZADD', threads, 'NX', now, thread)
return 'added'

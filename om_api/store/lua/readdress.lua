-- readdress(messages, known, to_messages; to)
-- Moves what plain writers put under an alias to the thread that it stands for, where adoption counts it: byte for byte, and what
-- is there already stays as it is.
-- Time 0: a worker reads that thread-2 is an alias of thread-1. Time 1: it is none any more, and its messages are its own again.
-- Time 2: nothing is moved, and the worker looks again.
-- Returns how many members there were, or 'superseded'.
local messages, known, to_messages, to = KEYS[1], KEYS[2], KEYS[3], ARGV[1]

if redis.call('HGET', known, '=') ~= to then
  return 'superseded'
end
redis.call('ZCARD', to_messages)
local found = redis.call('ZRANGE', messages, 0, -1, 'WITHSCORES')
for i = 1, #found, 2 do
  redis.call('ZADD', to_messages, 'NX', found[i + 1], found[i])
end
redis.call('UNLINK', messages)
return #found / 2

-- copy(state, known, messages; copied_from, [field, value]...)
-- Begins a thread as a copy of another one: what it was copied from, and what else is known of that. Its messages are pushed after
-- it; whoever dies on the way repeats the call, which finds it begun.
-- Time 0: a client finds that there is no such thread. Time 1: an agent begins one by that name. Time 2: nothing is written.
-- Returns 'copied', or 'occupied' where there is a thread of that name which is no copy of the same.
local state, known, messages, copied_from = KEYS[1], KEYS[2], KEYS[3], ARGV[1]

if redis.call('HGET', state, 'copied_from') == copied_from then
  return 'copied'
end
if redis.call('EXISTS', state, known, messages) > 0 then
  return 'occupied'
end
redis.call('HSET', state, 'copied_from', copied_from)
for slot = 2, #ARGV - 1, 2 do
  redis.call('HSET', state, ARGV[slot], ARGV[slot + 1])
end
return 'copied'

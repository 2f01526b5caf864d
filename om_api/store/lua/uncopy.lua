-- uncopy(state, known, messages; copied_from)
-- Removes the beginning of a copy whose messages were refused: no list shows it, and nothing would remove it.
-- Time 0: two clients begin the same copy. Time 1: the messages of one are accepted. Time 2: those of the other are refused;
-- nothing is removed.
-- Returns 'removed', or 'rest' where the thread has messages or is another one.
local state, known, messages, copied_from = KEYS[1], KEYS[2], KEYS[3], ARGV[1]

if redis.call('EXISTS', known, messages) > 0 or redis.call('HGET', state, 'copied_from') ~= copied_from then
  return 'rest'
end
redis.call('UNLINK', state)
return 'removed'

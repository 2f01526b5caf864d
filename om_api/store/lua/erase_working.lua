-- erase_working(working; [name, was, becomes]...)
-- Writes fields of working memories anew, of which something was erased, if all say what was read; '' takes one out. Whoever changes a
-- working memory that he read before is told 'superseded' afterwards, for it is of another change.
-- Time 0: an Actor reads its working memory. Time 1: a field of it is erased. Time 2: the Actor writes another field, and that one with it.
-- Returns 'cleared' or 'superseded'.
local working = KEYS[1]

for i = 1, #ARGV, 3 do
  if redis.call('HGET', working, ARGV[i]) ~= ARGV[i + 1] then
    return 'superseded'
  end
end
for i = 1, #ARGV, 3 do
  local name, becomes = ARGV[i], ARGV[i + 2]
  if becomes == '' then
    redis.call('HDEL', working, name)
  else
    redis.call('HSET', working, name, becomes)
  end
  local place = string.match(name, '^value:(.*)$')
  if place then
    redis.call('HINCRBY', working, 'version:' .. place, 1)
  end
end
return 'cleared'

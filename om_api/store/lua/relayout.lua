-- relayout(partitions; was, becomes)
-- Writes how many parts there are, unless somebody else did meanwhile. `was` is '' where nothing said so.
-- Returns 'written' or 'superseded'.
local partitions, was, becomes = KEYS[1], ARGV[1], ARGV[2]

if (redis.call('GET', partitions) or '') ~= was then
  return 'superseded'
end
redis.call('SET', partitions, becomes)
return 'written'

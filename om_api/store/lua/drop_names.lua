-- drop_names(index; [name, score]...)
-- Takes names off an index whose score is still the one that they were seen with.
-- Returns how many were taken off.
local index = KEYS[1]
local dropped = 0
redis.call('ZCARD', index)
for n = 1, #ARGV, 2 do
  local name, score = ARGV[n], ARGV[n + 1]
  if tonumber(redis.call('ZSCORE', index, name) or -1) == tonumber(score) then
    dropped = dropped + redis.call('ZREM', index, name)
  end
end
return dropped

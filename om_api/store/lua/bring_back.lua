-- bring_back(archived, [key, segment]...; [name, mark, expires_at, words, n, [score, member]...]...)
-- Puts back into Redis what stands in the archive, because somebody is to change it: from here on it counts here only, and `archived`
-- names it no longer. `mark` is what that said when the archive was asked. A generation goes among the others and stays
-- (`expires_at` is ''); anything else is a key of its own, with the index of its words.
-- Time 0: two owners erase, and both read the archive. Time 1: one brings a source back and takes a message out of it. Time 2: for the
-- other it is archived no longer: what it read must not take the place of what stands here.
-- Returns how many were brought back.
local archived, slot, brought = KEYS[1], 1, 0

for k = 2, #KEYS, 2 do
  redis.call('ZCARD', KEYS[k])
end
for k = 2, #KEYS, 2 do
  local name, mark, expires_at, words, n = unpack(ARGV, slot, slot + 4)
  local first = slot + 5
  slot = first + 2 * tonumber(n)
  if tonumber(redis.call('ZSCORE', archived, name) or '') == tonumber(mark) then
    if expires_at == '' or redis.call('EXISTS', KEYS[k]) == 0 then
      for from = first, slot - 1, 1000 do
        redis.call('ZADD', KEYS[k], unpack(ARGV, from, math.min(from + 999, slot - 1)))
      end
      if expires_at ~= '' then
        redis.call('PEXPIREAT', KEYS[k], expires_at)
      end
      if words ~= '' then
        redis.call('SET', KEYS[k + 1], words, 'PX', math.max(redis.call('PTTL', KEYS[k]), 1))
      end
    end
    redis.call('ZREM', archived, name)
    brought = brought + 1
  end
end
return brought

-- vacate(part; kept_s, [member, score]...)
-- Takes out of a part what was put where it belongs now, as far as it is as it was read, and closes it once nothing is left: text
-- stands there then, which no command on an index takes. For `kept_s` seconds, 0 = for good.
-- Time 0: a scope is read, and put into its new part. Time 1: somebody who knows only the old part marks it there. Time 2: it is
-- not as it was read; it stays, and is read again.
-- Returns how many are left.
local part, kept_s = KEYS[1], tonumber(ARGV[1])

if redis.call('TYPE', part).ok == 'string' then
  return 0
end
for i = 2, #ARGV, 2 do
  if tonumber(redis.call('ZSCORE', part, ARGV[i]) or '') == tonumber(ARGV[i + 1]) then
    redis.call('ZREM', part, ARGV[i])
  end
end
local left = redis.call('ZCARD', part)
if left == 0 then
  redis.call('SET', part, 'moved')
  if kept_s > 0 then
    redis.call('EXPIRE', part, kept_s)
  end
end
return left

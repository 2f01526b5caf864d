-- vacate(part, queued; kept_s, [member, score, place]...)
-- Takes out of a part what was put where it belongs now, as far as it is as it was read, and closes it once nothing is left: text
-- stands there then, which no command on an index takes. For `kept_s` seconds, 0 = for good.
-- With a scope goes its `place` among the tasks that wait ('' = it had none), so that nobody takes that for one of now later.
-- Time 0: a scope is read, and put into its new part. Time 1: somebody who knows only the old part marks it there, or begins its
-- task. Time 2: it is not as it was read; it stays, and is read again.
-- Returns how many are left.
local part, queued, kept_s = KEYS[1], KEYS[2], tonumber(ARGV[1])

if redis.call('TYPE', part).ok == 'string' then
  return 0
end
for i = 2, #ARGV, 3 do
  local score, place = redis.call('ZSCORE', part, ARGV[i]), redis.call('ZSCORE', queued, ARGV[i])
  if tonumber(score or '') == tonumber(ARGV[i + 1]) and tonumber(place or '') == tonumber(ARGV[i + 2]) then
    redis.call('ZREM', part, ARGV[i])
    redis.call('ZREM', queued, ARGV[i])
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

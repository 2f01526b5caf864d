-- drop(due, queued; [scope, lease]...)
-- Takes scopes off the due index and out of the queue that are nobody's. Time 0: a scope that no message was written under is
-- claimed. Time 1: its first message comes, and marks it due. Time 2: it is to be dropped; its score is the lease no longer, so
-- that it stays due.
-- Returns how many were dropped.
local due, queued, dropped = KEYS[1], KEYS[2], 0

for i = 1, #ARGV, 2 do
  redis.call('ZREM', queued, ARGV[i])
  if tonumber(redis.call('ZSCORE', due, ARGV[i]) or '') == tonumber(ARGV[i + 1]) then
    dropped = dropped + redis.call('ZREM', due, ARGV[i])
  end
end
return dropped

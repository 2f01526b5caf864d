-- reopen(part;)
-- Has a part take entries again that was closed. One that holds entries is as it was.
-- Returns whether it was closed.
local part = KEYS[1]

if redis.call('TYPE', part).ok ~= 'string' then
  return 0
end
return redis.call('DEL', part)

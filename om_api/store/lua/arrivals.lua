-- arrivals(due, turns; n)
-- Up to n scopes that are due and have no turn yet, lowest first. One that has a turn stands in `due` at its time less 1e13, which no
-- clock says: what stands there without a turn was written so by somebody else, and has none either.
-- Returns the names.
local due, turns, n = KEYS[1], KEYS[2], tonumber(ARGV[1])

local time = redis.call('TIME')
local now = string.format('%d', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
local reply = redis.call('ZRANGEBYSCORE', due, '-inf', '-inf', 'LIMIT', 0, n)
for _, name in ipairs(redis.call('ZRANGEBYSCORE', due, '(-5e12', now, 'LIMIT', 0, math.max(0, n - #reply))) do
  reply[#reply + 1] = name
end
if redis.call('ZCOUNT', due, '(-inf', '-5e12') > redis.call('ZCARD', turns) then
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', due, '(-inf', '-5e12')) do
    if #reply >= n then
      break
    end
    if not redis.call('ZSCORE', turns, name) then
      reply[#reply + 1] = name
    end
  end
end
return reply

-- batch([key]...; [n, word...]...)
-- Runs reading commands at one instant, as the MULTI they stand for would: a server that is out of memory (Redis 7.0) refuses to
-- queue anything, but lets a script read. Each command comes as its number of words and the words.
-- Returns their replies.
local replies, slot = {}, 1
while slot <= #ARGV do
  local n = tonumber(ARGV[slot])
  replies[#replies + 1] = redis.call(unpack(ARGV, slot + 1, slot + n))
  slot = slot + 1 + n
end
return replies

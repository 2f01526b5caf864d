-- unalias(aliases, known; alias)
-- Ends an alias: from here on the name is that of a thread of its own, which holds nothing yet. What came under it stays where it is.
-- Returns the thread that it stood for, or ''.
local aliases, known, alias = KEYS[1], KEYS[2], ARGV[1]

local stood = redis.call('HGET', aliases, alias) or ''
redis.call('HGET', known, '=')
redis.call('HDEL', known, '=')
redis.call('HDEL', aliases, alias)
return stood

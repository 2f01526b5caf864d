-- recognise(known; [id]...)
-- uses known
-- What is known of ids, each given as the 7 bytes of its hash. Changes nothing.
-- Returns the record of each, '' for one that is not known.
local set, replies = known.open(KEYS[1], ARGV), {}

for i = 1, #ARGV do
  replies[i] = known.find(set, ARGV[i]) or ''
end
return replies

-- add_webhook(webhooks; id, webhook, most, by, most_of_key)
-- Adds a webhook (JSON) if there is room: at most `most` in all, and at most `most_of_key` made by one key ('' = no key).
-- Returns 'added', 'full', or 'full_of_key'.
local webhooks, id, webhook = KEYS[1], ARGV[1], ARGV[2]
local most, by, most_of_key = tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])

local stored = redis.call('HVALS', webhooks)
if #stored >= most then
  return 'full'
end
local own = 0
for _, value in ipairs(stored) do
  if by ~= '' and cjson.decode(value).by == by then
    own = own + 1
  end
end
if own >= most_of_key then
  return 'full_of_key'
end
redis.call('HSET', webhooks, id, webhook)
return 'added'

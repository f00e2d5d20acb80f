/**
 * The atomic steps of a session, as Lua. One hash a session: s snapshot, t its state, v version, d fence of the last commit;
 * while a call is in flight also f fence, i id, l tool, u end of the lease in milliseconds.
 */

/** The lease's clock is the server's, so that the clocks of the processes need not agree; a test may bring its own. */
const CLOCK = `
local time = redis.call('TIME')
local micros = time[1] * 1000000 + time[2]
local now = tonumber(ARGV[1]) or math.floor(micros / 1000)
local ttl = tonumber(ARGV[2])
local function keepFor(ms) redis.call('PEXPIRE', KEYS[1], math.max(ttl, ms)) end
`;

const HELD = `
local slot = redis.call('HMGET', KEYS[1], 's', 't', 'v', 'f', 'i', 'l', 'u', 'd')
local held = slot[4] and tonumber(slot[7]) > now
`;

/**
 * ARGV: clock, ttl, id, tool, leaseMs, state of a new session, list of wanted states or ''.
 * A fence is the server's time in microseconds, or one more than the last: it grows even where the session was deleted between.
 */
export const RESERVE: string = `${CLOCK}${HELD}
local session = { slot[1] or '', slot[3] or '0' }
if held then
  if slot[5] == ARGV[3] then return { 'granted', session[1], session[2], slot[4] } end
  return { 'held', session[1], session[2], slot[6], tostring(tonumber(slot[7]) - now) }
end
if ARGV[7] ~= '' then
  local wanted = false
  for _, state in ipairs(cjson.decode(ARGV[7])) do
    if state == (slot[2] or ARGV[6]) then wanted = true end
  end
  if not wanted then return { 'elsewhere', session[1], session[2] } end
end
local last = math.max(tonumber(slot[4] or '0'), tonumber(slot[8] or '0'))
local fence = string.format('%.0f', math.max(micros, last + 1))
local lease = tonumber(ARGV[5])
redis.call('HSET', KEYS[1], 'f', fence, 'i', ARGV[3], 'l', ARGV[4], 'u', string.format('%.0f', now + lease))
if slot[1] then keepFor(lease) else redis.call('PEXPIRE', KEYS[1], lease) end
return { 'granted', session[1], session[2], fence }
`;

/** ARGV: clock, ttl, fence, leaseMs. */
export const RENEW: string = `${CLOCK}${HELD}
if not held or slot[4] ~= ARGV[3] then return 0 end
local lease = tonumber(ARGV[4])
redis.call('HSET', KEYS[1], 'u', string.format('%.0f', now + lease))
if slot[1] then keepFor(lease) else redis.call('PEXPIRE', KEYS[1], lease) end
return 1
`;

const WRITE = `
local function write(snapshot, state, done)
  local version = redis.call('HINCRBY', KEYS[1], 'v', 1)
  redis.call('HSET', KEYS[1], 's', snapshot, 't', state, 'd', done)
  redis.call('HDEL', KEYS[1], 'f', 'i', 'l', 'u')
  keepFor(0)
  return version
end
local function tell(channel, origin, key, snapshot, version)
  if channel == '' then return end
  local change = { origin = origin, key = key, previous = slot[1] or nil, current = snapshot, version = version }
  redis.call('PUBLISH', channel, cjson.encode(change))
end
`;

/** ARGV: clock, ttl, fence, snapshot, state, channel, origin, session key. A fence that has committed is answered again. */
export const COMMIT: string = `${CLOCK}${HELD}${WRITE}
if slot[8] == ARGV[3] then return tonumber(slot[3]) end
if not held or slot[4] ~= ARGV[3] then return 0 end
local version = write(ARGV[4], ARGV[5], ARGV[3])
tell(ARGV[6], ARGV[7], ARGV[8], ARGV[4], version)
return version
`;

/** ARGV: clock, ttl, fence. A session that was never written disappears with its lease. */
export const RELEASE: string = `
local slot = redis.call('HMGET', KEYS[1], 'f', 's')
if slot[1] ~= ARGV[3] then return 0 end
if slot[2] then redis.call('HDEL', KEYS[1], 'f', 'i', 'l', 'u') else redis.call('DEL', KEYS[1]) end
return 1
`;

/** ARGV: clock, ttl, unused, snapshot, state, channel, origin, session key. */
export const FORCE: string = `${CLOCK}${HELD}${WRITE}
local last = math.max(tonumber(slot[4] or '0'), tonumber(slot[8] or '0'), micros)
local version = write(ARGV[4], ARGV[5], string.format('%.0f', last + 1))
tell(ARGV[6], ARGV[7], ARGV[8], ARGV[4], version)
return version
`;

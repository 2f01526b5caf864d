// What a memory refuses while the agent fails open, and whose place a message names; the servers are of the test's own.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidInputError, NotPermittedError, ObservationalMemory } from "cortex-om";
import { ADDED, answering, problem } from "./api.mjs";

const place = { threadId: "t-1", resourceId: "harold" };
const user = (content, more = {}) => ({ role: "user", content, ...more });
const AWAY = [503, problem(503, "the store is away", { stored: false })];
const CONTEXT = [200, JSON.stringify({ format: "openai", context: [], tokens: 0, omitted: 0, recalled: [] })];

/** An agent that fails open, whose messages m-1, m-2 and m-3 wait for a server that then answers like this. */
async function waiting(...answers) {
  const server = await answering(AWAY, ...answers);
  const warnings = [];
  const memory = new ObservationalMemory({ url: server.url, failOpen: true, retries: 0, onWarning: (text) => warnings.push(text) });
  await memory.addMessages([1, 2, 3].map((n) => user(`${n}`, { id: `m-${n}` })), place);
  return { memory, server, warnings };
}

const sent = ({ asked }) => asked.map(({ body }) => (body ? JSON.parse(body).messages.map(({ id }) => id).join() : "context"));

test("of messages that waited, the one that is refused for good is dropped and named; the others and what follows are kept", async () => {
  const bad = [400, problem(400, "content is no text")];
  const { memory, server, warnings } = await waiting(bad, [200, ADDED], bad, [200, ADDED], CONTEXT, [200, ADDED]);
  const found = await memory.getContext(place);
  await memory.addMessage(user("4", { id: "m-4" }), place);
  const left = await memory.flush();
  server.close();

  assert.deepEqual(sent(server), ["m-1,m-2,m-3", "m-1,m-2,m-3", "m-1", "m-2", "m-3", "context", "m-4"]);
  assert.deepEqual([found.unavailable, left], [undefined, 0]);
  assert.equal(warnings.length, 2);
  assert.match(warnings[1], /thread t-1 was refused and is lost, message m-2: .*content is no text/);
});

test("messages that waited and that the key may no longer write are dropped at once and named; the call itself still says so", async () => {
  const { memory, server, warnings } = await waiting([403, problem(403, "this key may not write")]);
  await assert.rejects(memory.addMessage(user("4"), place), NotPermittedError);
  assert.equal(await memory.flush(), 0);
  server.close();

  assert.equal(server.asked.length, 3);
  assert.match(warnings[1], /message m-1, message m-2, message m-3: .*may not write/);
});

test("while the memory is away again, what waits goes on waiting", async () => {
  const { memory, server, warnings } = await waiting(AWAY);
  assert.equal(await memory.flush(), 3);
  server.close();

  assert.equal(warnings.length, 1);
});

test("a message that was refused is not shown while the memory is away", async () => {
  const server = await answering([400, problem(400, "no")], AWAY);
  const memory = new ObservationalMemory({ url: server.url, failOpen: true, retries: 0, onWarning: () => {} });
  await assert.rejects(memory.addMessage(user("refused"), place), InvalidInputError);
  await memory.addMessage(user("waits"), place);
  const { context } = await memory.getContext(place);
  server.close();

  assert.deepEqual(context.map(({ content }) => content), ["waits"]);
});

test("a message's own thread and resource go before those of the call", async () => {
  const server = await answering([200, ADDED]);
  const memory = new ObservationalMemory({ url: server.url });
  await memory.addMessages([user("a", { threadId: "own", resourceId: "bob" }), user("b")], place);
  server.close();

  assert.deepEqual(server.asked.map(({ url }) => url), ["/v1/resources/bob/threads/own/messages", "/v1/resources/harold/threads/t-1/messages"]);
});
